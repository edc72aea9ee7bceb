"""``while_loop`` and ``fori_loop``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_base.options import disable_jit
from dovetail_core import (
    EVAL,
    ConcretizationTypeError,
    Tracer,
    algebra,
    axis_names,
    get_trace,
    here,
    manual_axis_types,
    mutable_values,
    trace_cache,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_map, tree_structure, tree_unflatten

from ...dtypes import kind_of
from ...primitives.arithmetic import add_p
from ...primitives.collectives import vary_over
from ...primitives.control_flow import while_p
from ...primitives.discrete import lt_p
from ._staging import (
    Staged,
    check_function,
    checkpointing,
    close_together,
    invariant,
    name_of,
    operand_types,
    refuse_meeting,
    stage_carry,
    stage_function,
    strengthen,
    with_constants,
    with_varying,
)
from .scanning import scan_of


def while_loop(
    cond_fun: Callable[..., Any],
    body_fun: Callable[..., Any],
    init_val: Any,
    *,
    checkpoint: Any = None,
) -> Any:
    """Apply ``body_fun`` to a value as long as ``cond_fun`` of it holds.

    Args:
        cond_fun: from the value to a boolean scalar.
        body_fun: from the value to a value of the same structure and types.
        init_val: a pytree of arrays.
        checkpoint: ``Online(snapshots=s)`` keeps s values, so that the loop can be differentiated
            in reverse mode; steps are computed again from those.

    The number of iterations is not known when the loop is compiled, so without ``checkpoint`` it
    cannot be differentiated in reverse mode; forward mode and ``vmap`` (until all elements are
    done) work.

    Raises:
        TypeError: the predicate is not a boolean scalar, or the body changes the value's structure
            or types; names the path.
    """
    check_function(cond_fun, "while_loop: cond_fun")
    check_function(body_fun, "while_loop: body_fun")
    if checkpoint is None and get_trace() is EVAL:
        result = trace_cache().eager_call(
            "while_loop", _while_again, (cond_fun, body_fun), (), init_val
        )
        if result is not NotImplemented:
            return result
    return while_of("while_loop", cond_fun, body_fun, init_val, checkpoint)


def _while_again(functions: Sequence[Any], statics: Any, init_val: Any) -> Any:
    cond_fun, body_fun = functions
    return while_loop(cond_fun, body_fun, init_val)


def while_of(
    what: str,
    cond_fun: Callable[..., Any],
    body_fun: Callable[..., Any],
    init_val: Any,
    scheme: Any,
) -> Any:
    """:func:`while_loop`, for the function named ``what``."""
    provider = None if scheme is None else checkpointing(what, scheme)
    if disable_jit.value:
        try:
            return _in_python(cond_fun, body_fun, init_val)
        except ConcretizationTypeError:  # the condition is not known
            pass
    leaves, tree = tree_flatten(init_val)
    in_tree = tree_flatten((init_val,))[1]
    over = manual_axis_types.NO_AXES  # the axes over which the number of rounds varies
    outer = get_trace()
    while True:
        with axis_names.outer_values_vary(over, outer):
            leaves, body = stage_carry(what, body_fun, in_tree, tree, leaves, lambda s: s.out_tree)
            condition = stage_function(cond_fun, in_tree, [typeof(x) for x in leaves])
        _check_predicate(cond_fun, condition)
        vma = condition.out_avals[0].vma
        if vma == over:
            break
        over = vma
        leaves = [vary_over(x, sorted(vma, key=str)) for x in leaves]
    if over:
        refuse_meeting(what, [condition, body], over, "the condition")
        condition, body = with_varying([condition, body])
    if provider is None:
        outs = _loop_without_constants(condition, body, leaves)
    else:
        (condition_program, body_program), consts = close_together([condition, body])
        params = {
            "cond_jaxpr": condition_program, "body_jaxpr": body_program, "num_consts": len(consts),
        }  # fmt: skip
        outs = provider.while_loop(what, scheme, [*consts, *leaves], params)
    return tree_unflatten(tree, outs)


def _loop_without_constants(condition: Staged, body: Staged, leaves: Sequence[Any]) -> list[Any]:
    """The loop over what moves; the rest of the carry is constant, and a result as it is."""
    fixed = invariant(body, leaves, condition)
    if fixed:
        body = with_constants(body, leaves, fixed, results=True)
        condition = with_constants(condition, leaves, fixed, results=False)
    outs = _plain_loop(condition, body, [x for i, x in enumerate(leaves) if i not in fixed])
    for i in fixed:  # in rising order
        outs.insert(i, leaves[i])
    return outs


_HOST_VALUES = (bool, int, float, complex, np.ndarray, np.generic)


def _in_python(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], value: Any) -> Any:
    def array(x: Any) -> Any:
        return algebra().array(x, typeof(x)) if isinstance(x, _HOST_VALUES) else x

    value = tree_map(array, value)
    while cond_fun(value):
        value = body_fun(value)
    return value


def _plain_loop(condition: Staged, body: Staged, leaves: Sequence[Any]) -> list[Any]:
    """Each program takes constants of its own, but mutable values have to be one operand."""
    theirs = {id(x) for x in body.consts}
    if any(id(x) in theirs and typeof(x).is_mutable for x in condition.consts):
        programs, consts = close_together([condition, body])
        operands, counts = [*consts, *leaves], {"num_consts": len(consts)}
    else:
        programs = [close_together([x])[0][0] for x in (condition, body)]
        operands = [*condition.consts, *body.consts, *leaves]
        counts = {"cond_nconsts": len(condition.consts), "body_nconsts": len(body.consts)}
    return while_p.bind(*operands, cond_jaxpr=programs[0], body_jaxpr=programs[1], **counts)


def _check_predicate(cond_fun: Any, condition: Staged) -> None:
    written = mutable_values.write_effects(condition.jaxpr.effects)
    if written:
        aval = typeof(condition.consts[written[0].input_index])
        raise TypeError(
            f"while_loop: {name_of(cond_fun)} writes to {aval.str_short()}"
            f"{here()}: a condition may only read. Write in the body."
        )
    avals = condition.out_avals
    is_leaf = condition.out_tree.num_nodes == 1
    if not is_leaf or len(avals) != 1 or avals[0].shape != () or avals[0].dtype != np.bool_:
        result = ", ".join(a.str_short() for a in avals)
        raise TypeError(
            f"while_loop: {name_of(cond_fun)} must return one boolean scalar, but it returned "
            f"{condition.out_tree} of {result or 'nothing'}{here()}. Reduce it (.any(), .all()), "
            "or compare it with a number."
        )


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[..., Any],
    init_val: Any,
    *,
    unroll: Any = None,
    checkpoint: Any = None,
) -> Any:
    """``body_fun(i, value)`` for ``i`` from ``lower`` to ``upper - 1``, in order.

    Args:
        lower, upper: integer or floating-point scalars of one type. If both are known while
            tracing, the loop is a ``scan`` over the integers from ``int(lower)`` to
            ``int(upper) - 1`` and can be differentiated in reverse mode; else it is a
            ``while_loop``, whose index starts at ``lower`` and is of that type.
        body_fun: from index and value to a value of the same structure and types.
        unroll: how many iterations to put into one (only if the bounds are known).
        checkpoint: which values to keep for reverse mode, the others being computed again:
            ``Binomial(snapshots=s)`` or ``Periodic(every=n)`` if the bounds are known while
            tracing, ``Online(snapshots=s)`` in any case. None: keep those of all iterations.

    Raises:
        TypeError: bounds that are not such scalars, or a body that changes the value's types.
        ValueError, OverflowError: known bounds that are NaN or infinite.
    """
    check_function(body_fun, "fori_loop: body_fun")
    if checkpoint is None and lower.__class__ is upper.__class__ is int and get_trace() is EVAL:
        result = trace_cache().eager_call(
            "fori_loop", _fori_again, (body_fun,), (lower, upper, unroll), init_val
        )
        if result is not NotImplemented:
            return result
    lower, upper, dtype = _bounds(lower, upper)
    if checkpoint is not None:
        checkpointing("fori_loop", checkpoint)
    known = [x.concrete() if isinstance(x, Tracer) else x for x in (lower, upper)]
    if not any(x is None for x in known):
        lower, upper = (int(x) for x in known)
        dtype = dtype if dtype.kind in "iu" else np.dtype(np.int64)
        if upper - lower >= 1 << 63:
            raise OverflowError(
                f"fori_loop: from {lower} to {upper} is more than 2**63 - 1 iterations{here()}"
            )
    if disable_jit.value and not any(x is None for x in known):
        value, own = init_val, _first_index(lower, upper, dtype)[0].__class__
        for i in range(lower, upper):
            value = body_fun(i if own is int else dtype.type(i), value)
        return value
    if any(x is None for x in known):
        if unroll is not None and unroll is not False and unroll != 1:
            raise ValueError(f"fori_loop: unroll needs bounds that are known while tracing{here()}")
        return _while(lower, upper, body_fun, init_val, checkpoint)
    start, one = _first_index(lower, upper, dtype)
    length = max(upper - lower, 0)

    def step(carry: Any, _: Any) -> Any:
        i, value = carry
        return (add_p.bind(i, one), body_fun(i, value)), None

    trace_cache().alias(step, body_fun, ("step", one.__class__))
    (_, value), _ = scan_of(
        "fori_loop", step, (start, init_val), None, length, unroll=unroll or 1, scheme=checkpoint
    )
    return value


def _fori_again(functions: Sequence[Any], statics: tuple[Any, ...], init_val: Any) -> Any:
    lower, upper, unroll = statics
    return fori_loop(lower, upper, functions[0], init_val, unroll=unroll)


def _first_index(lower: int, upper: int, dtype: Any) -> tuple[Any, Any]:
    """The first index for known bounds, and 1: Python integers, which yield to other types in the
    body, unless their type would be too small for the bounds."""
    own: Any = typeof(0)
    limits = np.iinfo(own.dtype)
    if limits.min <= lower and upper <= limits.max:
        return lower, 1
    return dtype.type(lower), dtype.type(1)


def _bounds(lower: Any, upper: Any) -> tuple[Any, Any, Any]:
    a, b = operand_types([lower, upper], tree_structure((0, 0)), "fori_loop: bounds")
    kinds = [_bound_kind(*named) for named in (("lower", lower, a), ("upper", upper, b))]
    if a.dtype != b.dtype:
        if kinds[0] != kinds[1] or not (a.weak_type or b.weak_type):
            raise TypeError(
                f"fori_loop: lower has type {a.str_short()}, upper {b.str_short()}{here()}: "
                "convert one of them so that they agree"
            )
        dtype = b.dtype if a.weak_type else a.dtype
        strong = b.update(dtype=dtype, weak_type=False)
        if a.weak_type:
            lower = strengthen(lower, strong)
        else:
            upper = strengthen(upper, strong)
        return lower, upper, dtype
    return lower, upper, a.dtype


def _bound_kind(name: str, x: Any, aval: Any) -> str:
    """The kind of a bound: ``signed`` for any integer, ``floating``, or ``bool`` if it is known."""
    kind = kind_of(aval.dtype).removeprefix("un")
    accepted = ("signed", "floating") if isinstance(x, Tracer) else ("signed", "floating", "bool")
    if aval.shape != () or kind not in accepted:
        raise TypeError(
            f"fori_loop: {name} must be an integer or floating-point scalar, got "
            f"{aval.str_short()}{here()}. Convert it, for example with int(...) or "
            ".astype('int32')."
        )
    return kind


def _while(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any, scheme: Any) -> Any:
    first: Any = typeof(lower)
    one = first.dtype.type(1)
    one = one.item() if first.weak_type else one

    def step(state: Any) -> Any:
        i, n, value = state
        return add_p.bind(i, one), n, body_fun(i, value)

    trace_cache().alias(step, body_fun, ("step to", one.__class__))
    start = (lower, upper, init_val)
    return while_of("fori_loop", _is_before, step, start, scheme)[2]


def _is_before(state: Any) -> Any:
    return lt_p.bind(state[0], state[1])
