"""Functions of flat arguments made of functions of pytrees (``jax.api_util``)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import AbstractValue, ShapedArray, callable_name, is_value, typeof
from dovetail_jax_names.debug_info import DebugInfo
from dovetail_tree.util import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)

from .functions import WrappedFun, transformation2, transformation_with_aux2


@transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> list[Any]:
    """A function of leaves: ``in_tree`` is the structure of ``(args, kwargs)``."""
    args, kwargs = tree_unflatten(in_tree, leaves)
    outs, out_tree = tree_flatten(f(*args, **kwargs))
    store.store(out_tree)
    return outs


@transformation_with_aux2
def flatten_fun_nokwargs(
    f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any
) -> list[Any]:
    """A function of leaves: ``in_tree`` is the structure of ``args``."""
    outs, out_tree = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
    store.store(out_tree)
    return outs


def safe_map(f: Callable[..., Any], *args: Any) -> list[Any]:
    """``list(map(f, *args))`` of arguments of one length.

    Raises:
        ValueError: their lengths differ.
    """
    return [f(*xs) for xs in zip(*map(list, args), strict=True)]


@transformation2
def _with_static(
    f: Callable[..., Any], dynamic: tuple[int, ...], fixed: tuple[Any, ...], *args: Any, **kw: Any
) -> Any:
    rest, given = iter(fixed), iter(args)
    count = len(fixed) + len(args)
    return f(*[next(given) if i in dynamic else next(rest) for i in range(count)], **kw)


def argnums_partial(
    f: WrappedFun,
    dyn_argnums: int | Sequence[int],
    args: Sequence[Any],
    require_static_args_hashable: bool = True,
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """A function of the arguments ``dyn_argnums``, with the others fixed; and those arguments.

    Raises:
        ValueError: another argument is not hashable.
    """
    given = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    dynamic = tuple(sorted({n % len(args) for n in given}))
    fixed = tuple([x for i, x in enumerate(args) if i not in dynamic])
    if require_static_args_hashable:
        for x in fixed:
            if not _is_hashable(x):
                raise ValueError(
                    f"a static argument must be hashable, got {type(x).__name__}: {x!r}"
                )
    return _with_static(f, dynamic, _Fixed(fixed)), tuple([args[i] for i in dynamic])


class _Fixed(tuple[Any, ...]):
    """Arguments that are part of a transformation; those that are not hashable are by identity."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple([x if _is_hashable(x) else id(x) for x in self]))


def _is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def flatten_axes(
    name: str, treedef: Any, axis_tree: Any, *, kws: bool = False, tupled_args: bool = False
) -> list[Any]:
    """The axes of a prefix of a structure, one for each leaf of it.

    Raises:
        ValueError: ``axis_tree`` is no prefix of the structure.
    """
    full = tree_unflatten(treedef, [object()] * treedef.num_leaves)
    axes: list[Any] = []
    none_leaf = object()
    prefix, tree = tree_flatten(axis_tree, is_leaf=lambda x: x is None)
    prefix = [none_leaf if x is None else x for x in prefix]
    try:
        parts = tree.flatten_up_to(full)
    except (ValueError, TypeError) as e:
        raise ValueError(f"{name} must be a prefix of the structure {treedef}: {e}") from None
    for axis, part in zip(prefix, parts):
        axes += [None if axis is none_leaf else axis] * tree_structure(part).num_leaves
    return axes


def donation_vector(
    donate_argnums: Sequence[int], donate_argnames: Sequence[str], in_tree: Any, kws: bool = True
) -> tuple[bool, ...]:
    """Per leaf of ``(args, kwargs)`` (of ``args`` where ``kws`` is false) whether it is donated."""
    flags = tree_unflatten(in_tree, [True] * in_tree.num_leaves)
    args, kwargs = flags if kws else (flags, {})
    result: list[bool] = []
    for i, arg in enumerate(args):
        result += [i in donate_argnums] * len(tree_leaves(arg))
    for key, value in sorted(kwargs.items()):
        result += [key in donate_argnames] * len(tree_leaves(value))
    return tuple(result)


def rebase_donate_argnums(
    donate_argnums: Sequence[int], static_argnums: Sequence[int]
) -> tuple[int, ...]:
    """The donated arguments' positions among those that are not static.

    Raises:
        ValueError: an argument is both.
    """
    if both := set(donate_argnums) & set(static_argnums):
        raise ValueError(f"arguments {sorted(both)} cannot be static and donated")
    return tuple(sorted(n - sum(s < n for s in static_argnums) for n in donate_argnums))


def shaped_abstractify(x: Any) -> AbstractValue:
    """The type of a value, or of what describes one by ``shape`` and ``dtype``."""
    if is_value(x) or not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return typeof(x)
    return ShapedArray(x.shape, x.dtype, getattr(x, "weak_type", False))


def debug_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    result_paths_thunk: Callable[[], tuple[str, ...]] | None = None,
    sourceinfo: str | None = None,
    signature: inspect.Signature | None = None,
) -> DebugInfo:
    """The debug information of a function: its name, source location and argument names."""
    static = {*static_argnums, *static_argnames}
    names = _names(signature or _signature_of(fun), args, kwargs, static)
    return DebugInfo(traced_for, sourceinfo or _source_location_of(fun), names, result_paths_thunk)


def _signature_of(fun: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (TypeError, ValueError):
        return None


def _names(
    signature: inspect.Signature | None, args: Any, kwargs: Any, static: set[Any]
) -> tuple[str, ...] | None:
    """A name for each leaf of the arguments that are not static: ``x``, ``state['speed']``."""
    if signature is None:
        return None
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    dynamic = {n: x for i, (n, x) in enumerate(bound.items()) if not static & {i, n}}
    leaves = [tree_flatten_with_path(x)[0] for x in dynamic.values()]
    return tuple([n + keystr(path) for n, result in zip(dynamic, leaves) for path, _ in result])


def _source_location_of(fun: Any) -> str:
    name, code = callable_name(fun), getattr(inspect.unwrap(fun), "__code__", None)
    return name if code is None else f"{name} at {code.co_filename}:{code.co_firstlineno}"
