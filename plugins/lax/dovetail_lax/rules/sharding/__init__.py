"""Rules of ``sharding.infer``: how results are divided along axes of type ``Explicit``.

What acts on elements in one place has its rule from its traits, and what has a decomposition and no
rule here that of the decomposition.
"""

from . import (
    collectives as collectives,
    contractions as contractions,
    gather as gather,
    linalg as linalg,
    reductions as reductions,
    reshaping as reshaping,
    shape as shape,
    windows as windows,
)
