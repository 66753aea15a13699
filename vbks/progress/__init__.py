"""What is shown while a fit works: one display in place, a few plain lines, or nothing."""

from vbks.progress.choosing import progress_for, reporting
from vbks.progress.protocol import Part, Progress, Quiet

__all__ = ["Part", "Progress", "Quiet", "progress_for", "reporting"]
