"""Derivative and transpose rules on flat lists, made from authors' rules on pytrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_ad import SymbolicZero, has_tangent, typed
from dovetail_core import add_tangents, algebra, canonical_dtype, is_inexact, is_value, typeof
from dovetail_tree.util import (
    tree_flatten,
    tree_map,
    tree_structure,
    tree_unflatten,
    treedef_children,
)

from .checks import (
    CustomVJPPrimal,
    arrayed,
    check_type,
    check_value,
    differences,
    is_zero,
    kind_of,
    leaves_with_zeros,
    name_of,
    path_of,
    shown_zero,
    zero_from_primal,
)
from .flat_rules import Backward, Flags, Transposed
from .frame import Frame


def flat_jvp(frame: Frame, rule: Callable[..., Any], symbolic: bool) -> Callable[..., Any]:
    """The flat rule of ``rule(*inert, primals, tangents)``, which returns result and tangent."""
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
    """The flat rule of ``rule(*arguments)``, which returns result and linear tangent map."""
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
        TypeError: structures or types differ; names rule, function, path and both.
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


def flat_vjp(
    frame: Frame, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic: bool, lean: bool
) -> Backward:
    """The flat rule of ``fwd(*arguments)`` and ``bwd(*inert, residuals, cotangent)``."""
    forward = f"the forward rule {name_of(fwd)} of {frame.name}"
    closed = frame.closed_over_by(bwd)  # further residuals

    def flat_fwd(operands: Sequence[Any], mask: Flags) -> tuple[list[Any], list[Any], Any]:
        arguments = frame.arguments(operands)
        given = _marked(frame, operands, mask) if symbolic else arguments
        out = frame.run(frame.constants(operands), fwd, *given)
        if not (isinstance(out, (tuple, list)) and len(out) == 2):  # type: ignore[arg-type]
            raise TypeError(
                f"{forward} must return a pair (result, residuals), got {kind_of(out)}."
            )
        outs = frame.results(out[0], forward)
        residuals, tree = tree_flatten(out[1])
        for x in residuals:
            check_value(x, f"{forward} returned a residual that is not an array")
        known = {i: _as_known(x) for i, x in enumerate(residuals) if isinstance(x, _KNOWN)}
        residuals = [x for i, x in enumerate(residuals) if i not in known]
        inert = [arguments[i] for i in sorted(frame.inert)]
        traced, inert_tree = tree_flatten([x for i, x in zip(sorted(frame.inert), inert)
                                           if i not in frame.statics])  # fmt: skip
        token = _Token(
            tree, known, inert_tree, len(residuals), frame.in_tree,
            [typeof(x) for x in operands[frame.closed :]], frame.out_tree,
            [typeof(x) for x in outs],
        )  # fmt: skip
        return outs, [*residuals, *traced, *[operands[i] for i in closed]], token

    def flat_bwd(token: _Token, values: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        n = token.count
        residuals = tree_unflatten(token.tree, token.leaves(values[:n]))
        m = len(values) - len(closed)
        traced = iter(tree_unflatten(token.inert_tree, list(values[n:m])))
        inert = [
            frame.statics[i] if i in frame.statics else next(traced) for i in sorted(frame.inert)
        ]
        shown = [
            shown_zero(a.cotangent_type(), symbolic) if ct is None else arrayed(ct)
            for ct, a in zip(cts, token.out_avals)
        ]
        shown_tree = tree_unflatten(token.out_tree, shown)
        result = frame.run(dict(zip(closed, values[m:])), bwd, *inert, residuals, shown_tree)
        checked = checked_cotangents(frame, f"the backward rule {name_of(bwd)} of {frame.name}",
                                     result, token.in_avals)  # fmt: skip
        return [*[None] * frame.closed, *checked]

    return Backward(flat_fwd, flat_bwd, name_of(bwd), lean)


_KNOWN = (bool, int, float, complex, np.bool_, np.number)
"""Residuals of these classes are not values of a program: they are passed to the backward function
unchanged, so that it may use them as conditions."""


def _as_known(x: Any) -> Any:
    """A number; a NumPy number with the element type that an array of it would have."""
    return canonical_dtype(x.dtype).type(x) if isinstance(x, np.generic) else x


class _Token:
    """The structures and known values that a backward function needs besides its residuals."""

    __slots__ = (
        "tree", "known", "inert_tree", "count", "in_tree", "in_avals", "out_tree", "out_avals",
    )  # fmt: skip

    def __init__(
        self, tree: Any, known: dict[int, Any], inert_tree: Any, count: int, in_tree: Any,
        in_avals: Any, out_tree: Any, out_avals: Any,
    ) -> None:  # fmt: skip
        self.tree = tree
        self.known = known
        self.inert_tree = inert_tree
        self.count = count
        self.in_tree = in_tree
        self.in_avals = in_avals
        self.out_tree = out_tree
        self.out_avals = out_avals

    def leaves(self, values: Sequence[Any]) -> list[Any]:
        """The residuals in the order of the forward function: ``values`` and known ones."""
        rest = map(arrayed, values)
        known = self.known
        return [known[i] if i in known else next(rest) for i in range(len(values) + len(known))]


def _marked(frame: Frame, operands: Sequence[Any], mask: Flags) -> list[Any]:
    """Arguments with leaves as ``CustomVJPPrimal``, except those that are never perturbed."""
    n = frame.closed
    leaves = [
        x if i in frame.inert else CustomVJPPrimal(arrayed(x), m)
        for x, m, i in zip(operands[n:], mask[n:], frame.owners())
    ]
    return frame.fill(leaves)


def checked_cotangents(frame: Frame, what: str, result: Any, in_avals: Sequence[Any]) -> list[Any]:
    """One cotangent per leaf of the arguments, None for zeros.

    Raises:
        TypeError: structures differ. ValueError: types differ. Names rule, argument, path and both.
    """
    positions = [i for i in range(frame.count) if i not in frame.inert]
    if not isinstance(result, (tuple, list)) or len(result) != len(positions):  # type: ignore[arg-type]
        raise TypeError(
            f"{what} must return a tuple with one cotangent per differentiated argument "
            f"({len(positions)}), got {kind_of(result)}."
        )
    given: dict[int, Any] = dict(zip(positions, result))  # type: ignore[arg-type]
    cts: list[Any] = []
    at = 0
    for i, tree in zip(frame.dynamic, treedef_children(frame.in_tree)):
        n = tree.num_leaves
        if i in given:
            cts += argument_cotangents(what, i, tree, given[i], in_avals[at : at + n])
        else:
            cts += [None] * n
        at += n
    return cts


def argument_cotangents(what: str, i: int, tree: Any, ct: Any, avals: Sequence[Any]) -> list[Any]:
    """The cotangents that a rule returned for argument ``i``, None for zeros.

    Raises:
        TypeError: the structure differs. ValueError: a type differs.
    """
    leaves = _leaves_up_to(what, i, tree, ct)
    out: list[Any] = []
    for k, (x, aval) in enumerate(zip(leaves, avals)):
        want = aval.cotangent_type()
        if is_zero(x) or not has_tangent(aval):
            out.append(None)
            continue
        x = _converted(x, want)
        head = f"{what} returned, for argument {i},"
        check_type(x, want, head, tree, k, "the argument wants", ValueError)
        _check_varying(x, want, head)
        out.append(typed(arrayed(x), want))
    return out


def _check_varying(x: Any, want: Any, head: str) -> None:
    """Raise ValueError for a cotangent that varies over devices if its argument does not."""
    more = sorted(map(repr, typeof(x).vma - want.vma))
    if more:
        raise ValueError(
            f"{head} a cotangent that varies over the axis {', '.join(more)} of the mesh, and the "
            f"argument is equal on all devices. Return the sum: lax.psum(..., {more[0]})."
        )


def _converted(x: Any, want: Any) -> Any:
    """``x``, converted if its type differs in width only, or if it is an integer."""
    got: Any = typeof(x) if is_value(x) else None
    if got is None or got.is_high or want.is_high or got.dtype == want.dtype:
        return x
    same_kind = is_inexact(got.dtype) and (got.dtype.kind == "c") == (want.dtype.kind == "c")
    fits = same_kind or got.dtype.kind in "iub"
    return algebra().convert(x, want) if fits and got.shape == want.shape else x


def _leaves_up_to(what: str, i: int, tree: Any, ct: Any) -> list[Any]:
    """The leaves of ``ct``, in which None or a leaf may replace any subtree of ``tree``."""
    leaves = leaves_with_zeros(tree, ct, repeated=True)
    if leaves is None:
        result = tree_structure(ct)
        raise TypeError(
            f"{what} returned a cotangent of another structure than argument {i}: "
            f"{differences(tree, result)}. Return the argument's structure, with None for zeros."
        )
    return leaves


def flat_transpose(frame: Frame, rule: Callable[..., Any], in_avals: Sequence[Any]) -> Transposed:
    """``rule(*residuals, cotangent)``, which returns the cotangent of the last argument.

    The function is linear in its last argument; the others are residuals.
    """
    what = f"the transpose rule {name_of(rule)} of {frame.name}"
    last = frame.count - 1
    owners = frame.owners()
    linear = (*[False] * frame.closed, *(i == last for i in owners))
    n = sum(linear)
    tree = treedef_children(frame.in_tree)[-1]
    avals = list(in_avals)[len(in_avals) - n :]

    def apply(operands: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        leaves = [None if x is None else arrayed(x) for x in operands[frame.closed :]]
        arguments = frame.fill([0 if x is None else x for x in leaves])
        shown = [
            shown_zero(a.cotangent_type(), False) if ct is None else arrayed(ct)
            for ct, a in zip(cts, frame.out_avals)
        ]
        cotangent = tree_unflatten(frame.out_tree, shown)
        result = frame.run(frame.constants(operands), rule, *arguments[:last], cotangent)
        cotangents = argument_cotangents(what, last, tree, result, avals)
        return [*[None] * (len(operands) - n), *cotangents]

    return Transposed(linear, apply)
