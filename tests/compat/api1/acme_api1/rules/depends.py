"""Rules of the plugin's own table."""

import dovetail_lax as lax

from ..depends import depends_rules


@depends_rules.register(lax.sign_p)
def _independent(carrier, args, params):
    ((x, _),) = args
    return lax.sign_p.bind(x, **params), False
