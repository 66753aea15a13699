"""Reports: what a selection says, as one page for people and as JSON."""

from vbks.report.content import Report, brief_report_of, report_of
from vbks.report.page import notebook_of, page_of
from vbks.report.writing import json_of, write_report

__all__ = [
    "Report",
    "brief_report_of",
    "json_of",
    "notebook_of",
    "page_of",
    "report_of",
    "write_report",
]
