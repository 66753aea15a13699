"""Model criticism: what the data say against a model, and what should not be trusted."""

from vbks.criticism.coverage import Coverage
from vbks.criticism.criticising import criticise
from vbks.criticism.judging import CheckResult
from vbks.criticism.result import Criticism, Curve

__all__ = ["CheckResult", "Coverage", "Criticism", "Curve", "criticise"]
