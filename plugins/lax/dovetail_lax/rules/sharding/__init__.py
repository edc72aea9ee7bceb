"""Rules of ``sharding.infer``: how results are divided along axes of type ``Explicit``.

Elementwise operations have their rules from their traits; what has a decomposition and no rule here
has the rule of the decomposition.
"""

from . import (
    contractions as contractions,
    gather as gather,
    reductions as reductions,
    shape as shape,
)
