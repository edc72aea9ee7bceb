"""The primitive that says what must hold: no result, and an effect, so that it is never dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import IOEffect, Primitive, def_impl, here, typeof

check_p = Primitive("acme.check", multiple_results=True)
check_p.def_traits(effect_only=True)  # derivatives check primal values


class CheckError(ValueError):
    """Something that was checked does not hold."""


@check_p.def_effectful_abstract_eval
def _check_type(holds: Any, *values: Any, message: str, names: tuple[str, ...]) -> Any:
    return [], {IOEffect("check")}


@def_impl(check_p)
def _check(holds: Any, *values: Any, message: str, names: tuple[str, ...]) -> list[Any]:
    if not np.all(holds):
        raise CheckError(f"{message.format(**dict(zip(names, map(np.asarray, values))))}{here()}")
    return []


def check(holds: Any, message: str, **values: Any) -> None:
    """Say that all elements of ``holds`` are true.

    Evaluated at once it raises; ``checked(f)`` returns what failed; in a compiled function that is
    not below ``checked`` it does nothing.

    Args:
        message: what is said where one is false, formatted (``str.format``) with ``values``.
        values: numbers and arrays.

    Raises:
        TypeError: ``holds`` is not boolean.
        CheckError: it is known, and one element is false.
    """
    aval: Any = typeof(holds)
    if aval.dtype != np.bool_:
        raise TypeError(f"check{here()} takes booleans, got {aval.str_short()}: compare first")
    check_p.bind(holds, *values.values(), message=message, names=tuple(values))
