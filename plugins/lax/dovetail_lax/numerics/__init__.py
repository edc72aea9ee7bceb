"""Numerical methods behind primitives that the compiler has no operation for."""

# All of it before a part: a thread that had begun with a part would wait for one that imports all.
from .. import primitives as primitives
