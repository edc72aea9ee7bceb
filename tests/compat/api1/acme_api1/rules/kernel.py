"""Rules of the kernel's own tables, ``dce`` and ``to_lo``."""

from dovetail_core import dce_rules, to_lo_rules

from ..pair import Pair
from ..primitives import both_p, first_p, pack_p


@dce_rules.register(both_p)
def _both_dce(used, eqn):
    return list(used), eqn if any(used) else None


to_lo_rules.register(pack_p)(lambda x, y: Pair(x, y))
to_lo_rules.register(first_p)(lambda pair: pair.first)
