"""Checks of the results of rules, and conversions between zeros of rules and internal ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail_ad import SymbolicZero
from dovetail_core import (
    UnexpectedTracerError,
    algebra,
    callable_name,
    float0,
    typeof,
    zeros_like_aval,
)
from dovetail_tree.util import (
    keystr,
    tree_differences,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_unflatten,
    treedef_children,
)


def name_of(f: Any) -> str:
    """A function's name for programs and messages."""
    return callable_name(f)


_NAMED = "names_rule"


def closed_over(text: str) -> UnexpectedTracerError:
    """The error for a rule or a function with rules that closes over a traced value."""
    error = UnexpectedTracerError(text)
    setattr(error, _NAMED, True)
    return error


def names_rule(error: Exception) -> bool:
    """True if an error is from :func:`closed_over`, so that nothing needs to be added to it."""
    return hasattr(error, _NAMED)


def check_value(x: Any, what: str) -> Any:
    """The type of ``x``; raises TypeError, beginning with ``what``, if it is not an array."""
    try:
        return typeof(x)
    except TypeError as e:
        raise type(e)(f"{what}: {e}") from None


def differences(expected: Any, result: Any) -> str:
    """A description of the differences of two tree structures, with both of them."""
    a = tree_unflatten(expected, list(range(expected.num_leaves)))
    b = tree_unflatten(result, list(range(result.num_leaves)))
    lines = "; ".join(tree_differences(a, b))
    return f"{lines} (expected {expected}, got {result})"


def leaves_with_zeros(tree: Any, result: Any, repeated: bool = False) -> list[Any] | None:
    """The leaves of ``result``, in which None may replace any subtree of ``tree``, for which the
    result has None for each leaf. If ``repeated``, any leaf may. None if the structures differ.

    Only structures are compared. No container of ``tree`` is made, because a class may check or
    normalise its contents, and placeholders for leaves would not pass.
    """
    leaves, prefix = tree_flatten(result, is_leaf=lambda x: x is None)
    try:
        parts = _parts_at_leaves(prefix, tree)
    except (ValueError, TypeError):  # node data of user classes that cannot be compared
        return None
    if parts is None:
        return None
    if not repeated and any(x is not None and not _is_leaf(p) for x, p in zip(leaves, parts)):
        return None
    return [x for x, part in zip(leaves, parts) for _ in range(part.num_leaves)]


def _parts_at_leaves(prefix: Any, tree: Any) -> list[Any] | None:
    """The subtree of ``tree`` at each leaf of ``prefix``; None if it is not a prefix."""
    if _is_leaf(prefix):
        return [tree]
    inner, outer = treedef_children(prefix), treedef_children(tree)
    if prefix.node_data() != tree.node_data() or len(inner) != len(outer):
        return None
    result: list[Any] = []
    for a, b in zip(inner, outer):
        parts = _parts_at_leaves(a, b)
        if parts is None:
            return None
        result += parts
    return result


def _is_leaf(tree: Any) -> bool:
    return tree.num_nodes == tree.num_leaves == 1


def path_of(tree: Any, index: int) -> str:
    """The path of leaf number ``index``, or "" if it is the complete tree."""
    paths = tree_flatten_with_path(tree_unflatten(tree, list(range(tree.num_leaves))))[0]
    return keystr(paths[index][0])


def check_type(
    x: Any, want: Any, what: str, tree: Any, index: int, reference: str,
    error: Callable[[str], Exception] = TypeError,
) -> None:  # fmt: skip
    """Raise unless ``x`` has the shape and element type ``want``.

    The message has ``what``, the type that it returned, the path, and ``reference`` with its type.
    """
    check_aval(check_value(x, what), want, what, tree, index, reference, error)


def check_aval(
    got: Any, want: Any, what: str, tree: Any, index: int, reference: str,
    error: Callable[[str], Exception] = TypeError,
) -> None:  # fmt: skip
    """:func:`check_type` for a type instead of a value."""
    same = got == want
    if not same and not want.is_high and not got.is_high:
        same = got.shape == want.shape and got.dtype == want.dtype
    if not same:
        path = path_of(tree, index)
        where = f" for the output {path}" if path else ""
        raise error(
            f"{what} {got.str_short()}{where}, where {reference} {want.str_short()}. Make the "
            "shapes and element types agree."
        )


def kind_of(x: Any) -> str:
    """A value's kind, for messages about what should have been a pair or tuple."""
    length = f" of length {len(x)}" if isinstance(x, (tuple, list)) else ""  # type: ignore[arg-type]
    return f"a {type(x).__name__}{length}"


@dataclass(frozen=True)
class CustomVJPPrimal:
    """A leaf of a forward rule's arguments under ``symbolic_zeros``.

    Attributes:
        value: the argument. perturbed: True if the function is differentiated with respect to it.
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """``tree`` with each :class:`CustomVJPPrimal` replaced by its value.

    Raises:
        TypeError: a leaf is something else.
    """

    def value(leaf: Any) -> Any:
        if not isinstance(leaf, CustomVJPPrimal):
            raise TypeError(
                f"custom_vjp_primal_tree_values takes CustomVJPPrimal leaves, got {leaf!r} of type "
                f"{type(leaf).__name__}. Use it on the arguments of a forward rule that was "
                "defined with symbolic_zeros=True."
            )
        return leaf.value

    return tree_map(value, tree)


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangents of a tree: arrays (float0 for integers), or :class:`SymbolicZero`."""
    return tree_map(lambda x: shown_zero(typeof(x).tangent_type(), symbolic_zeros), val)


def shown_zero(tangent_aval: Any, symbolic: bool) -> Any:
    """The zero of a tangent or cotangent type that rules take: None for a mutable value, as in
    ``jvp``."""
    if tangent_aval.is_mutable:
        return None
    if symbolic:
        return SymbolicZero(tangent_aval)
    if getattr(tangent_aval, "dtype", None) == float0:
        return np.zeros(tangent_aval.shape, float0)
    return arrayed(zeros_like_aval(tangent_aval))


def is_zero(x: Any) -> bool:
    """True for a zero without a value: None, a symbolic zero, or one of dtype float0."""
    return x is None or isinstance(x, SymbolicZero) or getattr(x, "dtype", None) == float0


def arrayed(x: Any) -> Any:
    """A Python or NumPy value as an array, so that rules may use methods of arrays."""
    if x.__class__ in _PLAIN or isinstance(x, _NUMPY):
        return algebra().array(x, typeof(x))
    return x


_PLAIN = (bool, int, float, complex)
_NUMPY = (np.generic, np.ndarray)
