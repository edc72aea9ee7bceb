"""``linear_transpose``: the transpose of a function that is linear as it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import ShapedArray, canonical_dtype, is_value, typeof
from dovetail_core.dispatch.axes import manual_axes
from dovetail_core.types.algebra import zeros
from dovetail_tree.util import Partial, tree_flatten, tree_unflatten

from .arguments import (
    check_callable,
    check_types,
    function_name,
    has_tangent,
    here,
    like_primal,
    live_tangent,
    refuse_reduction,
)
from .transposition import backward_scope, transposed_call
from .zeros import transposed_type


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[Any] = ()
) -> Any:
    """The transpose of a linear function.

    Args:
        fun: a function of floating-point or complex numbers to such, or of integers to integers.
        primals: example arguments; only their structure, shapes and dtypes are used.

    Returns: a function from a cotangent of ``fun``'s output to a tuple of cotangents.

    Raises:
        TypeError: numbers of another kind; or (when called) the cotangent is of another type.
        MissingRule: (when called) ``fun`` is not linear.
    """
    check_callable(fun, "linear_transpose")
    refuse_reduction(reduce_axes)
    leaves, in_tree = tree_flatten(primals)
    avals = [_shape_type(x) for x in leaves]
    _check_kinds(avals, avals)

    def transposed(cotangent: Any) -> Any:
        given, tree = tree_flatten(cotangent)
        cts: list[Any] = []

        def of_unknowns(*unknown: Any) -> list[Any]:
            outs, out_tree = tree_flatten(fun(*tree_unflatten(in_tree, unknown)))
            if tree != out_tree:
                raise TypeError(
                    f"the transpose of {function_name(fun)} takes a cotangent of the structure of "
                    f"its output {out_tree}, got {tree}{here()}"
                )
            out_avals = [typeof(x) for x in outs]
            _check_kinds(avals, out_avals)
            wanted = [transposed_type(a) for a in out_avals]
            check_types("linear_transpose: the cotangent", given, wanted)
            cts.extend(live_tangent(t, a) for t, a in zip(given, wanted))
            return outs

        result = transposed_call(of_unknowns, avals, cts, scope=backward_scope())
        full = [zeros(transposed_type(a)) if t is None else t for t, a in zip(result, avals)]
        return tree_unflatten(in_tree, [like_primal(t, a, True) for t, a in zip(full, avals)])

    return Partial(transposed)


def _shape_type(x: Any) -> Any:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        divided = typeof(x).divided if is_value(x) else None
        apart = [a for a, checked in manual_axes().items() if not checked]
        dtype = canonical_dtype(x.dtype)
        return ShapedArray(x.shape, dtype, sharding=divided, vma=frozenset(apart))
    return typeof(x)


def _check_kinds(inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Raise TypeError unless all are differentiable, or all are integers."""
    every = (*inputs, *outputs)
    if all(has_tangent(a) for a in every) or all(_is_integer(a) for a in every):
        return
    took, gave = (", ".join(a.str_short() for a in avals) for avals in (inputs, outputs))
    raise TypeError(
        "linear_transpose takes functions of floating-point or complex numbers to such, or of "
        f"integers to integers, got arguments of types {took}"
        f"{'' if outputs is inputs else f' and results of types {gave}'}{here()}"
    )


def _is_integer(aval: Any) -> bool:
    return getattr(getattr(aval, "dtype", None), "kind", None) in ("i", "u")
