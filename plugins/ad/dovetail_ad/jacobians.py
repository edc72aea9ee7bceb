"""``jacfwd``, ``jacrev`` and ``hessian``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_base.wrapping import alias, wraps
from dovetail_core import algebra, float0, is_inexact, typeof
from dovetail_tree.util import tree_flatten, tree_map, tree_unflatten

from .arguments import (
    canonical_argnums,
    check_callable,
    check_input_dtypes,
    function_name,
    here,
)
from .functions import jvp
from .reverse import vjp


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of ``fun`` column by column, in forward mode (good for few inputs).

    Returns: a function with the arguments of ``fun`` whose result has ``fun``'s output structure;
    each leaf is a tree like the differentiated arguments, of shape output shape + input shape.
    """
    check_callable(fun, "jacfwd")

    @wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        from dovetail_batching import vmap

        partial_fun, chosen, single = _restrict(fun, args, kwargs, argnums, "jacfwd", holomorphic)

        def push(tangent: Any) -> Any:
            value, out_tangent, *aux = jvp(partial_fun, chosen, tangent, has_aux)
            return tree_map(_dense, out_tangent, value), (value, *aux)

        columns, value = vmap(push, out_axes=(-1, None))(_basis(chosen))
        if holomorphic:
            _check_outputs(value[0], True, "jacfwd")
        jac = tree_map(lambda y: _split(y, chosen, -1, single), columns)
        return (jac, value[1]) if has_aux else jac

    return jacobian


def _dense(tangent: Any, value: Any) -> Any:
    """``tangent``; if it is of dtype float0, zeros of the type of ``value``."""
    if getattr(tangent, "dtype", None) != float0:
        return tangent
    return algebra().full(typeof(value).strong(), 0)


def _as_array(x: Any) -> Any:
    """``x``; as an array if it is a NumPy array (rows of the basis, returned unchanged)."""
    return algebra().array(x, typeof(x)) if isinstance(x, np.ndarray) else x


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of ``fun`` row by row, in reverse mode (good for few outputs).

    Returns: as :func:`jacfwd`.
    """
    check_callable(fun, "jacrev")

    @wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        from dovetail_batching import vmap

        partial_fun, chosen, single = _restrict(
            fun, args, kwargs, argnums, "jacrev", holomorphic, allow_int
        )
        value, pull, *aux = vjp(partial_fun, *chosen, has_aux=has_aux)
        _check_outputs(value, holomorphic, "jacrev")
        rows = vmap(lambda ct: tree_map(_dense, pull(ct), chosen))(_basis(value))
        rows = tree_map(_as_array, rows)
        rows = rows[0] if single else rows
        leaves, in_tree = tree_flatten(rows)
        split = [_split(r, value, 0, False) for r in leaves]
        jac = tree_map(lambda *parts: tree_unflatten(in_tree, parts), *split) if split else rows
        return (jac, aux[0]) if has_aux else jac

    return jacobian


jacobian = alias(jacrev, "jacobian")


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The Hessian of ``fun``: forward over reverse.

    Returns: as :func:`jacfwd` of :func:`jacrev`.
    """
    check_callable(fun, "hessian")
    inner = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(inner, argnums, has_aux=has_aux, holomorphic=holomorphic)


def _restrict(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    argnums: int | Sequence[int],
    what: str,
    holomorphic: bool,
    allow_int: bool = False,
) -> tuple[Callable[..., Any], tuple[Any, ...], bool]:
    nums = canonical_argnums(argnums, len(args), what)
    chosen = tuple(args[n] for n in nums)
    check_input_dtypes(chosen, what, holomorphic, allow_int)

    def partial_fun(*xs: Any) -> Any:
        full = list(args)
        for n, x in zip(nums, xs):
            full[n] = x
        return fun(*full, **kwargs)

    partial_fun.__name__ = function_name(fun)
    return partial_fun, chosen, not isinstance(argnums, (tuple, list))


def _check_outputs(value: Any, holomorphic: bool, what: str) -> None:
    for x in tree_flatten(value)[0]:
        dtype = typeof(x).dtype  # type: ignore[attr-defined]
        if dtype.kind == "c" and not holomorphic:
            remedy = "For a holomorphic function pass holomorphic=True; otherwise use vjp or jvp."
        elif holomorphic and dtype.kind != "c":
            remedy = "With holomorphic=True outputs must be complex."
        elif not is_inexact(dtype):
            remedy = "Convert the output with .astype(float), or use jacfwd, vjp or jvp."
        else:
            continue
        kind = "complex" if holomorphic else "real"
        raise TypeError(
            f"{what} takes functions with {kind} outputs, got dtype {dtype.name}{here()}. {remedy}"
        )


def _basis(tree: Any) -> Any:
    """The standard basis of the space of ``tree``'s values, along a new leading axis."""
    leaves, treedef = tree_flatten(tree)
    avals: list[Any] = [typeof(x) for x in leaves]
    n = sum(a.size for a in avals)
    made: list[Any] = []
    at = 0
    for a in avals:
        t = a.tangent_type()
        block = np.zeros((n, a.size), t.dtype)
        block[np.arange(at, at + a.size), np.arange(a.size)] = (
            1 if t.dtype.itemsize else block.dtype.type()
        )
        made.append(block.reshape(n, *a.shape))
        at += a.size
    return tree_unflatten(treedef, made)


def _split(y: Any, tree: Any, axis: int, single: bool) -> Any:
    """Cut the basis axis of ``y`` into the leaves of ``tree``, each in its own shape."""
    leaves, treedef = tree_flatten(tree)
    parts: list[Any] = []
    at = 0
    for x in leaves:
        aval: Any = typeof(x)
        parts.append(algebra().cut(y, axis, at, aval.shape))
        at += aval.size
    result = tree_unflatten(treedef, parts)
    return result[0] if single else result
