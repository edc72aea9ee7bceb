"""``grad`` and ``value_and_grad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base.errors import refuse_mutable_result
from dovetail_base.source import run_transformed
from dovetail_base.wrapping import wraps
from dovetail_core import (
    HiType,
    algebra,
    get_trace,
    is_inexact,
    leaks,
    mutable_values,
    run_under,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_unflatten

from .arguments import (
    canonical_argnums,
    check_callable,
    check_input_dtypes,
    function_name,
    here,
    integers_of,
    refuse_reduction,
    split_aux,
)
from .forward import JvpTrace
from .linear import LinearTrace
from .tangents import as_primal, has_tangent, like_primal
from .transposition import backward_pass, backward_scope


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns ``fun``'s value and its gradient, computed together.

    Args:
        fun: returns a scalar (or, with ``has_aux``, a pair of a scalar and any further values).
        argnums: which positional arguments to differentiate; a sequence gives a tuple of gradients.
        has_aux: if True, ``fun`` returns a pair whose second part is passed through.
        holomorphic: ``fun`` is holomorphic: inputs and output are complex.
        allow_int: integer inputs are allowed; their gradients have dtype ``float0``.
        reduce_axes: accepted for compatibility; must be empty.

    Returns: a function of the same arguments that returns ``(value, gradient)``; the gradient has
    the structure, shapes and dtypes of the arguments. For complex inputs it is the conjugate
    of the direction of steepest ascent (``df = Re(grad * dz)``).

    Raises (when called):
        TypeError: inputs that are not differentiable, or an output that is not a scalar.
    """
    check_callable(fun, "value_and_grad")
    integers_of(argnums, "grad")
    refuse_reduction(reduce_axes)

    @wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        nums = canonical_argnums(argnums, len(args), "grad")
        chosen = tuple(args[n] for n in nums)
        check_input_dtypes(chosen, "grad", holomorphic, allow_int)
        leaves, in_tree = tree_flatten(chosen)

        def on_leaves(*xs: Any) -> Any:
            full = list(args)
            for n, x in zip(nums, tree_unflatten(in_tree, xs)):
                full[n] = x
            return fun(*full, **kwargs)

        value, aux, gradients = leaks.leak_checked(_value_and_gradients)(
            fun, on_leaves, leaves, has_aux, holomorphic
        )
        result = tree_unflatten(in_tree, gradients)
        gradient = result if isinstance(argnums, (tuple, list)) else result[0]
        return ((value, aux) if has_aux else value), gradient

    return differentiated


def _value_and_gradients(
    fun: Any, on_leaves: Callable[..., Any], leaves: list[Any], has_aux: bool, holomorphic: bool
) -> tuple[Any, Any, list[Any]]:
    trace = LinearTrace(get_trace())
    jvp = JvpTrace(trace)
    inputs: list[Any] = []
    duals: list[Any] = []
    for x in map(as_primal, leaves):
        aval = typeof(x)
        inputs.append(trace.unknown(aval.tangent_type()) if has_tangent(aval) else None)
        duals.append(jvp.dual(x, inputs[-1]))
    try:
        out = run_transformed("jvp", run_under, jvp, on_leaves, *duals)
        result, aux = split_aux(fun, out) if has_aux else (out, None)
        value, tangent = jvp.lower(result)
        _check_scalar(fun, value, holomorphic)
        aux = _primal_tree(jvp, aux) if has_aux else None
    except BaseException:
        trace.take()
        raise
    finally:
        jvp.ended = trace.ended = True
    live = [t for t in inputs if t is not None]
    results: Any = iter(())
    if tangent is not None:
        unit = algebra().full(typeof(value).cotangent_type(), 1)
        results = iter(backward_pass(trace, live, [tangent], [unit], scope=backward_scope()))
    cts = [None if t is None else next(results, None) for t in inputs]
    return value, aux, [like_primal(ct, typeof(x), True) for ct, x in zip(cts, leaves)]


def _primal_tree(jvp: JvpTrace, tree: Any) -> Any:
    leaves, treedef = tree_flatten(tree)
    for x in leaves:
        if isinstance(x, mutable_values.LocalValue) and x._trace is jvp:
            refuse_mutable_result(x.aval, "the differentiated function")
    return tree_unflatten(treedef, [jvp.lower(x)[0] for x in leaves])


def _kind(aval: Any) -> str:
    return "a value" if isinstance(aval, HiType) else "an array"


def _check_scalar(fun: Any, value: Any, holomorphic: bool) -> None:
    name = function_name(fun)
    try:
        aval: Any = typeof(value)
    except TypeError:
        _, tree = tree_flatten(value)
        raise TypeError(
            f"grad takes functions that return a scalar, but {name} returned {tree}{here()}. "
            "Return one scalar; further values go through has_aux=True."
        ) from None
    if aval.is_mutable:
        refuse_mutable_result(aval, name)
    if isinstance(aval, HiType) or aval.shape != ():
        raise TypeError(
            f"grad takes functions that return a scalar, but {name} returned {_kind(aval)} of type "
            f"{aval.str_short()}{here()}. Reduce it (for example with .sum()), or use jacrev or "
            "jacfwd."
        )
    if holomorphic and aval.dtype.kind != "c":
        raise TypeError(
            f"grad with holomorphic=True takes functions with complex output, but {name} returned "
            f"{aval.str_short()}{here()}. Convert the output, or leave out holomorphic."
        )
    if not holomorphic and (aval.dtype.kind == "c" or not is_inexact(aval.dtype)):
        remedy = (
            "Take the real part, or pass holomorphic=True for a holomorphic function."
            if aval.dtype.kind == "c"
            else "Convert the output with .astype(float)."
        )
        raise TypeError(
            f"grad takes functions with real floating-point output, but {name} returned "
            f"{aval.str_short()}{here()}. {remedy}"
        )


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[..., Any]:
    """A function that returns the gradient of ``fun``; see :func:`value_and_grad` for arguments.

    Returns: a function of the same arguments that returns the gradient, or ``(gradient, aux)`` with
    ``has_aux``.
    """
    check_callable(fun, "grad")
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated
