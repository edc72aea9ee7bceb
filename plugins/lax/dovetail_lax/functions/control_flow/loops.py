"""``while_loop`` and ``fori_loop``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_core import EVAL, Tracer, get_trace, typeof
from dovetail_core.context import disable_jit
from dovetail_core.tree_util import tree_flatten, tree_unflatten

from ...primitives.arithmetic import add_p
from ...primitives.comparison import lt_p
from ...primitives.control_flow import while_p
from ._staging import (
    Staged,
    check_function,
    check_structure,
    check_types,
    close_together,
    name_of,
    paths,
    same_but_weak,
    stage_function,
    strengthen,
)


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Apply ``body_fun`` to a value as long as ``cond_fun`` of it holds.

    Args:
        cond_fun: from the value to a boolean scalar.
        body_fun: from the value to a value of the same structure and types.
        init_val: a pytree of arrays.

    The number of iterations is not known when the loop is compiled, so it cannot be differentiated
    in reverse mode; forward mode and ``vmap`` (until all elements are done) work.

    Raises:
        TypeError: the predicate is not a boolean scalar, or the body changes the value's structure
            or types; names the place.
    """
    check_function(cond_fun, "while_loop: cond_fun")
    check_function(body_fun, "while_loop: body_fun")
    if disable_jit.value and get_trace() is EVAL:
        value = init_val
        while cond_fun(value):
            value = body_fun(value)
        return value
    leaves, tree = tree_flatten(init_val)
    in_tree = tree_flatten((init_val,))[1]
    leaves, body = stage_carry("while_loop", body_fun, in_tree, tree, leaves, lambda s: s.out_tree)
    condition = stage_function(cond_fun, in_tree, [typeof(x) for x in leaves])
    _check_predicate(cond_fun, condition)
    (condition_program, body_program), consts = close_together([condition, body])
    outs = while_p.bind(
        *consts, *leaves, condition=condition_program, body=body_program, num_consts=len(consts)
    )
    return tree_unflatten(tree, outs)


def stage_carry(
    what: str,
    body: Callable[..., Any],
    in_tree: Any,
    carry_tree: Any,
    leaves: list[Any],
    out_tree: Callable[[Staged], Any],
    more: tuple[Any, ...] = (),
) -> tuple[list[Any], Staged]:
    """Trace a loop body whose first results are its carry.

    A carry that starts weakly typed and comes back strongly typed starts strongly typed.

    Args:
        leaves: initial carry. more: types of the inputs after the carry.
        out_tree: the structure of the carry that the body returned.
    """
    for _ in range(2):
        avals = [typeof(x) for x in leaves]
        staged = stage_function(body, in_tree, [*avals, *more])
        context = f"{what}: the loop carry"
        result = f"the result of {name_of(body)}"
        check_structure(context, "the input", carry_tree, result, out_tree(staged))
        outs = staged.out_avals[: len(leaves)]
        names = paths(carry_tree, "carry")
        check_types(context, "the input", avals, result, outs, names)
        if all(a is b for a, b in zip(avals, outs)):
            return leaves, staged
        leaves = [
            x if a is b else strengthen(x, a.strong()) for x, a, b in zip(leaves, avals, outs)
        ]
    return leaves, _strong_carry(staged, [typeof(x) for x in leaves])


def _strong_carry(staged: Staged, avals: list[Any]) -> Staged:
    from ._staging import with_strong_outputs

    assert all(same_but_weak(a, b) for a, b in zip(avals, staged.out_avals))
    return with_strong_outputs(staged, [*avals, *staged.out_avals[len(avals) :]])


def _check_predicate(cond_fun: Any, condition: Staged) -> None:
    avals = condition.out_avals
    if len(avals) != 1 or avals[0].shape != () or avals[0].dtype != np.bool_:
        found = ", ".join(a.str_short() for a in avals)
        raise TypeError(
            f"while_loop: {name_of(cond_fun)} must return one boolean scalar, but it returned "
            f"{condition.out_tree} of {found or 'nothing'}"
        )


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any, *, unroll: Any = None
) -> Any:
    """``body_fun(i, value)`` for ``i`` from ``lower`` to ``upper - 1``, in order.

    Args:
        lower, upper: integer scalars of one type. If both are known while tracing, the loop is a
            ``scan`` and can be differentiated in reverse mode; else it is a ``while_loop``.
        body_fun: from index and value to a value of the same structure and types.
        unroll: how many iterations to put into one (only if the bounds are known).

    Raises:
        TypeError: bounds that are not integer scalars, or a body that changes the value's types.
    """
    check_function(body_fun, "fori_loop: body_fun")
    lower, upper, dtype = _bounds(lower, upper)
    if disable_jit.value and get_trace() is EVAL:
        value = init_val
        for i in range(int(lower), int(upper)):
            value = body_fun(dtype.type(i), value)
        return value
    if isinstance(lower, Tracer) or isinstance(upper, Tracer):
        if unroll is not None:
            raise ValueError("fori_loop: unroll needs bounds that are known while tracing")
        return _while(lower, upper, body_fun, init_val)
    from .scanning import scan

    start = dtype.type(int(lower))

    def step(carry: Any, _: Any) -> Any:
        i, value = carry
        return (add_p.bind(i, dtype.type(1)), body_fun(i, value)), None

    length = max(int(upper) - int(lower), 0)
    step.__name__ = name_of(body_fun)
    (_, value), _ = scan(step, (start, init_val), None, length=length, unroll=unroll or 1)
    return value


def _bounds(lower: Any, upper: Any) -> tuple[Any, Any, Any]:
    a: Any = typeof(lower)
    b: Any = typeof(upper)
    for name, aval in (("lower", a), ("upper", b)):
        if aval.shape != () or aval.dtype.kind not in "iu":
            raise TypeError(f"fori_loop: {name} must be an integer scalar, got {aval.str_short()}")
    if a.dtype != b.dtype:
        if not (a.weak_type or b.weak_type):
            raise TypeError(
                f"fori_loop: lower has type {a.str_short()}, upper {b.str_short()}: convert one of "
                "them so that they agree"
            )
        dtype = b.dtype if a.weak_type else a.dtype
        strong = b.update(dtype=dtype, weak_type=False)
        if a.weak_type:
            lower = strengthen(lower, strong)
        else:
            upper = strengthen(upper, strong)
        return lower, upper, dtype
    return lower, upper, a.dtype


def _while(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    strong: Any = typeof(upper).strong()

    def step(state: Any) -> Any:
        i, n, value = state
        return add_p.bind(i, strong.dtype.type(1)), n, body_fun(i, value)

    step.__name__ = name_of(body_fun)
    start = (strengthen(lower, strong), strengthen(upper, strong), init_val)
    return while_loop(lambda s: lt_p.bind(s[0], s[1]), step, start)[2]
