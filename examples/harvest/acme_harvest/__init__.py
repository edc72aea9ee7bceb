"""Values inside of a function: ``sow`` names, ``reap`` returns, ``plant`` replaces them."""

from dovetail_core import hide_frames

from .harvest import nest as nest, plant as plant, reap as reap
from .sow import sow as sow

__all__ = ["nest", "plant", "reap", "sow"]
hide_frames(__name__)  # a mistake is in the line that uses this package
