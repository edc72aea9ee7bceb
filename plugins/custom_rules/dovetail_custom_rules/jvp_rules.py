"""From what authors write, on pytrees, to rules on flat lists: forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import SymbolicZero, typed
from dovetail_core import add_tangents, typeof
from dovetail_tree.util import tree_map, tree_structure

from .checks import (
    arrayed,
    check_type,
    differences,
    is_zero,
    kind_of,
    leaves_with_zeros,
    name_of,
    path_of,
    shown_zero,
    zero_from_primal,
)
from .frame import Frame


def flat_jvp(frame: Frame, rule: Callable[..., Any], symbolic: bool) -> Callable[..., Any]:
    """``rule(*inert, primals, tangents)``, which returns the result and its tangent."""
    what = f"the jvp rule {name_of(rule)} of {frame.name}"

    def jvp(operands: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        inert, primals = frame.parted(frame.arguments(operands))
        _, ts = frame.parted(frame.fill(_shown_tangents(frame, operands, tangents, symbolic)))
        out = frame.run(frame.constants(operands), rule, *inert, tuple(primals), tuple(ts))
        if not (isinstance(out, (tuple, list)) and len(out) == 2):  # type: ignore[arg-type]
            raise TypeError(
                f"{what} must return a pair (primal_out, tangent_out), got {kind_of(out)}."
            )
        return checked_tangents(frame, what, out[0], out[1])

    return jvp


def flat_lin(frame: Frame, rule: Callable[..., Any]) -> Callable[..., Any]:
    """``rule(*arguments)``, which returns the result and the linear function of tangents."""
    what = f"the lin rule {name_of(rule)} of {frame.name}"

    def jvp(operands: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        closed = frame.constants(operands)
        result = frame.run(closed, rule, *frame.arguments(operands))
        if not (isinstance(result, (tuple, list)) and len(result) == 2 and callable(result[1])):  # type: ignore[arg-type]
            raise TypeError(
                f"{what} must return a pair (primal_out, linear function of tangents), got "
                f"{kind_of(result)}."
            )
        _, ts = frame.parted(frame.fill(_shown_tangents(frame, operands, tangents, False)))
        return checked_tangents(frame, what, result[0], frame.run(closed, result[1], *ts))

    return jvp


def _shown_tangents(
    frame: Frame, operands: Sequence[Any], tangents: Sequence[Any], symbolic: bool
) -> list[Any]:
    n = frame.closed
    return [
        shown_zero(typeof(x).tangent_type(), symbolic) if t is None else arrayed(t)
        for x, t in zip(operands[n:], tangents[n:])
    ]


def checked_tangents(
    frame: Frame, what: str, primal_out: Any, tangent_out: Any
) -> tuple[list[Any], list[Any]]:
    """Results and their tangents, None for zeros.

    Raises:
        TypeError: structures or types disagree; names rule, function, path and both.
    """
    outs = frame.results(primal_out, what)
    tree = tree_structure(primal_out)
    tangents = leaves_with_zeros(tree, tangent_out)
    if tangents is None:
        raise TypeError(
            f"{what} returned a tangent of another structure than its primal result: "
            f"{differences(tree, tree_structure(tangent_out))}. Return one tangent per result."
        )
    result: list[Any] = []
    for i, (x, t) in enumerate(zip(outs, tangents)):
        want = typeof(x).tangent_type()
        if t is None or isinstance(t, SymbolicZero):
            result.append(None)
        elif is_zero(t):
            _check_float0(t, want, what, tree, i)
            result.append(None)
        else:
            check_type(t, want, f"{what} returned the tangent", tree, i, "the primal result wants")
            result.append(typed(arrayed(t), want))
    return outs, result


def _check_float0(t: Any, want: Any, what: str, tree: Any, i: int) -> None:
    if want.shape != t.shape or want.dtype != t.dtype:
        raise TypeError(
            f"{what} returned the tangent float0{list(t.shape)} for the output "
            f"{path_of(tree, i)}, where the primal result wants {want.str_short()}. Only integer "
            "and boolean results have tangents of type float0."
        )


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
    return add_tangents(x, y) if typeof(x) == typeof(y) else x + y
