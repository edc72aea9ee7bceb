"""Rules of ``ad.jvp``: primals and tangents (None: zero) to a result and its tangent."""

from dovetail_core import registry

from ..primitives import rotate_p


@registry().table("ad.jvp").register(rotate_p)
def _rotate_jvp(primals, tangents, **params):
    return rotate_p.bind(*primals, **params), rotate_p.bind(*tangents, **params)
