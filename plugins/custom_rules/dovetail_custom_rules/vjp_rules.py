"""From what authors write, on pytrees, to rules on flat lists: reverse mode, and transposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_ad import has_tangent, typed
from dovetail_core import algebra, canonical_dtype, is_inexact, is_value, typeof
from dovetail_tree.util import (
    tree_flatten,
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
    shown_zero,
)
from .frame import Backward, Flags, Frame, Transposed


def flat_vjp(
    frame: Frame, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic: bool, lean: bool
) -> Backward:
    """``fwd(*arguments)`` and ``bwd(*inert, residuals, cotangent)``."""
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
"""Residuals of these classes are no values of a program: the backward function gets them as they
are, whoever calls it, and may ask ``if flag:``."""


def _as_known(x: Any) -> Any:
    """A number; NumPy's with the element type that an array of it would have."""
    return canonical_dtype(x.dtype).type(x) if isinstance(x, np.generic) else x


class _Token:
    """What a backward function must know beside its residuals."""

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
        """The residuals as the forward function returned them: ``values`` and what was known."""
        rest = map(arrayed, values)
        known = self.known
        return [known[i] if i in known else next(rest) for i in range(len(values) + len(known))]


def _marked(frame: Frame, operands: Sequence[Any], mask: Flags) -> list[Any]:
    """Arguments whose leaves say whether they are perturbed (but for those that never are)."""
    n = frame.closed
    leaves = [
        x if i in frame.inert else CustomVJPPrimal(arrayed(x), m)
        for x, m, i in zip(operands[n:], mask[n:], frame.owners())
    ]
    return frame.fill(leaves)


def checked_cotangents(frame: Frame, what: str, result: Any, in_avals: Sequence[Any]) -> list[Any]:
    """One cotangent per leaf of the arguments, None for zeros.

    Raises:
        TypeError: structures disagree. ValueError: types do. Names rule, argument, path and both.
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
        TypeError: the structure is another. ValueError: a type is.
    """
    leaves = _leaves_up_to(what, i, tree, ct)
    out: list[Any] = []
    for k, (x, aval) in enumerate(zip(leaves, avals)):
        want = aval.cotangent_type()
        if is_zero(x) or not has_tangent(aval):
            out.append(None)
            continue
        x = _converted(x, want)
        place = f"{what} returned, for argument {i},"
        check_type(x, want, place, tree, k, "the argument wants", ValueError)
        _check_parts(x, want, place)
        out.append(typed(arrayed(x), want))
    return out


def _check_parts(x: Any, want: Any, place: str) -> None:
    """Raise ValueError for a cotangent that differs from device to device, of what does not."""
    more = sorted(map(repr, typeof(x).vma - want.vma))
    if more:
        raise ValueError(
            f"{place} a cotangent that varies over the axis {', '.join(more)} of the mesh, and the "
            f"argument is equal on all devices. Return the sum: lax.psum(..., {more[0]})."
        )


def _converted(x: Any, want: Any) -> Any:
    """``x``, converted where only the width of its type is another, or where it is an integer."""
    got: Any = typeof(x) if is_value(x) else None
    if got is None or got.is_high or want.is_high or got.dtype == want.dtype:
        return x
    same_kind = is_inexact(got.dtype) and (got.dtype.kind == "c") == (want.dtype.kind == "c")
    fits = same_kind or got.dtype.kind in "iub"
    return algebra().convert(x, want) if fits and got.shape == want.shape else x


def _leaves_up_to(what: str, i: int, tree: Any, ct: Any) -> list[Any]:
    """The leaves of ``ct``, in which None or a leaf may stand for any part of ``tree``."""
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
