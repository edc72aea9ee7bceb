"""Two loops: a reduction in rounds, and two functions that run in turns."""

from dovetail_core import hide_frames

from .tree import tree_reduce as tree_reduce
from .turns import in_turns as in_turns

hide_frames(__name__)  # a mistake is in the line that uses this package
