"""Checks and flattening of the arguments and results of derivative functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from operator import index
from typing import Any

from dovetail_base.errors import refuse_mutable_result
from dovetail_base.source import called, short_repr
from dovetail_core import (
    HiType,
    callable_name,
    here as here,
    is_inexact,
    is_value,
    typeof,
)
from dovetail_tree.util import (
    keystr,
    register_pytree_node,
    tree_differences,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_structure,
    tree_unflatten,
)

from .tangents import float0_type, is_float0, same_type


def function_name(f: Any) -> str:
    """A function's name for messages and programs."""
    return callable_name(f)


def refuse_reduction(reduce_axes: Any) -> None:
    """Refuse ``reduce_axes`` that name an axis.

    Raises:
        NotImplementedError: they are not empty.
    """
    if reduce_axes is not None and not (isinstance(reduce_axes, Sized) and not len(reduce_axes)):
        raise NotImplementedError(
            f"reduce_axes must be empty, got {short_repr(reduce_axes)}{called()}: sum over named "
            "axes with psum instead"
        )


def check_callable(f: Any, what: str) -> None:
    """Raise TypeError unless ``f`` can be called."""
    if not callable(f):
        raise TypeError(f"{what} takes a function, got {f!r} of type {type(f).__name__}{here()}")


def flat_function(
    f: Callable[..., Any], in_tree: Any, kwargs: dict[str, Any], has_aux: bool = False
) -> tuple[Callable[..., list[Any]], list[Any]]:
    """``f`` on flat arguments, and a list that receives the structure of its output.

    With ``has_aux``, leaves of the auxiliary result that are not arrays become part of the
    structure; :func:`unwrap_static` restores them.
    """
    out_tree: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        out = f(*tree_unflatten(in_tree, leaves), **kwargs)
        if has_aux:
            value, aux = split_aux(f, out)
            out = value, tree_map(_wrap_static, aux)
        result, tree = tree_flatten(out)
        out_tree[:] = [tree]
        for x in result:
            check_output(x, f)
        return result

    return flat, out_tree


class _Static:
    """A value that is not an array, as a pytree without leaves."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


register_pytree_node(_Static, lambda k: ((), k.value), lambda value, _: _Static(value))


def _wrap_static(x: Any) -> Any:
    return x if is_value(x) else _Static(x)


def unwrap_static(aux: Any) -> Any:
    """An auxiliary result in which the leaves that are not arrays are restored."""
    return tree_map(
        lambda x: x.value if isinstance(x, _Static) else x,
        aux,
        is_leaf=lambda x: isinstance(x, _Static),
    )


def input_types(tree: Any, leaves: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Types of arguments.

    Raises:
        TypeError: one is not an array; names its path.
    """
    try:
        return tuple([typeof(x) for x in leaves])
    except TypeError:
        for path, x in tree_flatten_with_path(tree)[0]:
            try:
                typeof(x)
            except TypeError as e:
                raise type(e)(f"{what}: the input{_at(path)}{here()}: {e}") from None
        raise


def _at(path: Any) -> str:
    return f" at {keystr(path)}" if path else ""


def split_aux(f: Any, out: Any) -> tuple[Any, Any]:
    """Value and auxiliary result of ``f``.

    Raises:
        TypeError: ``out`` is not a pair.
    """
    if not (isinstance(out, (tuple, list)) and len(out) == 2):  # type: ignore[arg-type]
        raise TypeError(
            f"with has_aux=True {function_name(f)} must return a pair (value, aux), got "
            f"{type(out).__name__}{here()}"
        )
    return out[0], out[1]  # type: ignore[return-value]


def check_output(x: Any, f: Any) -> None:
    """Raise TypeError unless a leaf of a function's result is an array."""
    try:
        aval = typeof(x)
    except TypeError as e:
        raise TypeError(
            f"{function_name(f)} returned a value that cannot be differentiated{here()}: {e}"
        ) from None
    if aval.is_mutable:
        refuse_mutable_result(aval, function_name(f))


def check_tangents(primals: Any, tangents: Any, what: str) -> None:
    """Raise unless tangents have the structure, shapes and tangent dtypes of their primals."""
    if tree_structure(primals) != tree_structure(tangents):
        raise TypeError(
            f"{what}: primals and tangents have different structures: "
            f"{'; '.join(tree_differences(primals, tangents))}{here()}. Give one tangent per "
            "primal."
        )
    paths = [p for p, _ in tree_flatten_with_path(primals)[0]]
    avals = input_types(primals, tree_flatten(primals)[0], f"{what}: primals")
    given = tree_flatten(tangents)[0]
    dense = [False if is_float0(t) else t for t in given]  # float0 is no type of arrays
    types = input_types(tree_unflatten(tree_structure(tangents), dense), dense, f"{what}: tangents")
    for path, p, t, got in zip(paths, avals, given, types):
        want: Any = p.tangent_type()
        got = float0_type(want, t) if is_float0(t) else got
        if not same_type(got, want):
            only_shapes = getattr(got, "dtype", got) == getattr(want, "dtype", want)
            raise (ValueError if only_shapes else TypeError)(
                f"{what}: the tangent at {keystr(path) or 'the argument'} has type "
                f"{got.str_short()}, but its primal of type {p.str_short()} takes tangents "
                f"of type {want.str_short()}{here()}. Convert it, for example with .astype()."
            )


_OF_JACOBIANS = ("jacfwd", "jacrev", "hessian")


def integers_of(argnums: Any, what: str) -> tuple[int, ...]:
    """``argnums`` as a tuple.

    Raises:
        TypeError: it is neither an integer nor a sequence of integers.
    """
    given = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    try:
        return tuple([index(n) for n in given])
    except TypeError:
        raise TypeError(
            f"{what}: argnums must be an integer or a sequence of them, got {argnums!r}{here()}"
        ) from None


def canonical_argnums(argnums: int | Sequence[int], count: int, what: str) -> tuple[int, ...]:
    """Positions as non-negative integers.

    Raises:
        TypeError: not integers, or one that is too large; names the number of arguments.
        ValueError: a negative one that is out of range (for Jacobians any), or one given twice.
    """
    given = integers_of(argnums, what)
    for n in given:
        if not -count <= n < count:
            wrong = TypeError if n >= count and what not in _OF_JACOBIANS else ValueError
            raise wrong(
                f"{what}: argnums={argnums!r} names argument {n}, but the function was called with "
                f"{count} positional argument{'s' if count != 1 else ''}{here()}. Arguments to "
                "differentiate must be passed by position."
            )
    result = tuple(int(n) % count for n in given)
    if len(set(result)) != len(result):
        raise ValueError(f"{what}: argnums={argnums!r} names an argument twice{here()}")
    return result


def check_input_dtypes(tree: Any, what: str, holomorphic: bool, allow_int: bool) -> None:
    """Raise TypeError for inputs that ``grad`` and similar functions do not differentiate."""
    real_only = what == "jacfwd"
    for i, aval in enumerate(input_types(tree, tree_flatten(tree)[0], what)):
        if aval.is_mutable:
            path = tree_flatten_with_path(tree)[0][i][0]
            raise TypeError(
                f"{what}: the input{_at(path)} is {aval.str_short()}, which is mutable{here()}: "
                "derivatives are with respect to values. Choose other arguments with argnums and "
                "pass it along, or take its value as the argument."
            )
        if isinstance(aval, HiType):
            continue
        dtype = aval.dtype
        if holomorphic:
            fits = dtype.kind == "c"
        else:
            fits = (allow_int or is_inexact(dtype)) and not (real_only and dtype.kind == "c")
        if not fits:
            path = tree_flatten_with_path(tree)[0][i][0]
            where = f"the input{_at(path)} has dtype {dtype.name}{here()}"
            raise TypeError(_refusal(what, where, dtype.kind == "c", holomorphic))


def _refusal(what: str, where: str, is_complex: bool, holomorphic: bool) -> str:
    if holomorphic:
        return f"{what} with holomorphic=True takes complex inputs, but {where}."
    if is_complex:
        return (
            f"{what} takes real inputs, but {where}. For a holomorphic function pass "
            "holomorphic=True; otherwise use vjp or jvp."
        )
    return (
        f"{what} takes floating-point or complex inputs, but {where}. Convert it with "
        ".astype(float), choose other arguments with argnums, or pass allow_int=True for float0 "
        "gradients."
    )


def check_types(
    what: str, values: Sequence[Any], wanted: Sequence[Any], error: type[Exception] = TypeError
) -> None:
    """Raise ``error`` if a value is not of the expected type; names its number and both types."""
    for i, (x, want) in enumerate(zip(values, wanted)):
        got: Any = float0_type(want, x) if is_float0(x) else typeof(x)
        if not same_type(got, want):
            raise error(
                f"{what} number {i} has type {got.str_short()}, expected "
                f"{want.str_short()}{here()}. Convert it, for example with .astype()."
            )
