"""Rules of ``batching.batch``: references from outside are read at mapped indices, not written.

A reference that is made under ``vmap`` or mapped by it is a local value of the trace (see
``dovetail_mutable.mutable_values``), to which these rules are not applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_batching import batch_rules, carrier_of
from dovetail_core import Primitive, here, lift_call, typeof

from ..indexing import read
from ..primitives import VERBS, get_p


def _refuse_mapped(primitive: Primitive) -> None:
    @batch_rules.register(primitive)
    def _rule(axis: Any, args: Sequence[Any], dims: Sequence[Any], /, **params: Any) -> NoReturn:  # pyright: ignore[reportUnusedFunction]
        ref, value = typeof(args[0]), carrier_of(axis).aval((args[1], dims[1]))
        how = "" if dims[1] is not None else " at a mapped index"
        raise TypeError(
            f"a {'' if how else 'mapped '}value of type {value.str_short()} is {VERBS[primitive]} "
            f"to {ref.str_short()}{how}{here()} under vmap, which was made outside of the mapped "
            "function, so that all of its calls would write to one reference. Map over the "
            "reference, too (in_axes), make it inside of the function, or return the value and "
            "write it outside."
        )


for _primitive in VERBS:
    _refuse_mapped(_primitive)


@batch_rules.register(get_p)
def _get_mapped(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], /, *, index: Any
) -> tuple[Any, Any]:
    """Read all of the reference, and index that at mapped indices."""
    contents = get_p.bind(args[0], index=())
    values = [(contents, None), *zip(args[1:], dims[1:])]
    return lift_call(carrier_of(axis), lambda x, *ops: read(x, index, ops), values)
