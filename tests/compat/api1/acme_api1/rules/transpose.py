"""Rules of ``ad.transpose``: the result's cotangent and the operands to their cotangents."""

from dovetail_core import registry

from ..primitives import rotate_p


@registry().table("ad.transpose").register(rotate_p)
def _rotate_transpose(cotangent, x, *, by):
    return [rotate_p.bind(cotangent, by=-by)]
