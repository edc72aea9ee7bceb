"""Rules of forward mode as sums over arguments: ``defjvps``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import typeof
from dovetail_core.tree.util import tree_map
from dovetail_core.types.algebra import add

from .zeros import is_zero, zero_from_primal


def sum_of_jvps(
    name: str, fun: Callable[..., Any], jvps: Sequence[Callable[..., Any] | None]
) -> Callable[..., Any]:
    """The rule that adds ``jvp(tangent, result, *primals)`` over arguments."""

    def rule(*args: Any) -> tuple[Any, Any]:
        *inert, primals, tangents = args
        if inert:
            raise TypeError(f"defjvps of {name} cannot be used with nondiff_argnums: use defjvp.")
        if len(jvps) != len(primals):
            raise TypeError(
                f"defjvps of {name} was given {len(jvps)} functions, but {name} was called with "
                f"{len(primals)} arguments: give one function, or None, per argument."
            )
        out = fun(*primals)
        total = tree_map(zero_from_primal, out)
        for jvp, t in zip(jvps, tangents):
            if jvp is not None:
                total = tree_map(_plus, total, jvp(t, out, *primals))
        return out, total

    return rule


def _plus(x: Any, y: Any) -> Any:
    return x if is_zero(y) else y if is_zero(x) else _added(x, y)


def _added(x: Any, y: Any) -> Any:
    return add(x, y) if typeof(x) == typeof(y) else x + y
