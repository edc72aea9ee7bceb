"""Two loops: a reduction in rounds, and two functions that run in turns."""

from .tree import tree_reduce as tree_reduce
from .turns import in_turns as in_turns
