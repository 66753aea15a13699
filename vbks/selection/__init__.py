"""What a user holds after a fit: candidates, belief, averaged predictions, pictures, files."""

from vbks.selection.selection import Selection
from vbks.selection.selections import Selections

__all__ = [
    "Selection",
    "Selections",
]
