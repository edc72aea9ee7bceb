"""Rules of the primitives on arrays: a sub-package per rule table."""

# All of it before a part: a thread that had begun with a part would wait for one that imports all.
from .. import primitives as primitives
