"""Batching: from an author's rule, on pytrees, to the rule of ``batching.batch``.

Where there are other rules, too, the batched function is a primitive with those, batched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_batching import carrier_of
from dovetail_core import ClosedJaxpr, Primitive, UnexpectedTracerError, stage_closed, typeof
from dovetail_tree.util import tree_flatten

from .checks import arrayed, check_value, differences, name_of, path_of
from .derivative_calls import Call, program_call
from .flat_rules import FlatRules, body_of
from .frame import Frame
from .lifting import Lifting, lifted_rules, to_front


def flat_vmap(frame: Frame, rule: Callable[..., Any]) -> Callable[..., Any]:
    """``rule(axis_size, in_batched, *arguments)``, which returns result and ``out_batched``.

    Mapped axes of arguments and results come first.
    """
    what = f"the vmap rule {name_of(rule)} of {frame.name}"

    def batch(axis: Any, operands: Sequence[Any], dims: Sequence[int | None]) -> Any:
        n = frame.closed
        if any(d is not None for d in dims[:n]):
            raise UnexpectedTracerError(
                f"{frame.name} closes over a value that is mapped by vmap, but its vmap rule only "
                "speaks of its arguments. Pass the value as an argument."
            )
        flags = frame.fill([d is not None for d in dims[n:]])
        batched = [False if i in frame.statics else x for i, x in enumerate(flags)]
        closed = frame.constants(operands)
        result = frame.run(closed, rule, axis.size, batched, *frame.arguments(operands))
        if not (isinstance(result, (tuple, list)) and len(result) == 2):  # type: ignore[arg-type]
            raise TypeError(
                f"{what} must return a pair (result, out_batched), got {type(result).__name__}."
            )
        return _checked(frame, what, axis, result[0], result[1])

    return batch


def _checked(
    frame: Frame, what: str, axis: Any, out: Any, out_batched: Any
) -> tuple[list[Any], list[int | None]]:
    leaves, tree = tree_flatten(out)
    flags, flag_tree = tree_flatten(out_batched)
    if tree != flag_tree:
        raise ValueError(
            f"{what} returned out_batched of another structure than its result: "
            f"{differences(tree, flag_tree)}. Return one bool per result."
        )
    if frame.out_tree is not None and tree != frame.out_tree:
        raise ValueError(
            f"{what} returned a result of another structure than {frame.name} itself: "
            f"{differences(frame.out_tree, tree)}. Return what {frame.name} returns."
        )
    for i, (x, flag) in enumerate(zip(leaves, flags)):
        got: Any = check_value(x, f"{what} returned a result that is not an array")
        want = None if frame.out_avals is None else frame.out_avals[i]
        shape = got.shape if want is None else want.shape
        head = (axis.size,) if flag else ()
        full_shape = (*head, *shape[len(head) if want is None else 0 :])
        if got.shape != full_shape or (want is not None and got.dtype != want.dtype):
            expected = got.update(shape=full_shape, dtype=got.dtype if want is None else want.dtype)
            path = path_of(tree, i)
            raise TypeError(
                f"{what} returned {got.str_short()}{f' for the output {path}' if path else ''}, "
                f"where {frame.name} mapped over {axis.size} elements returns "
                f"{expected.str_short()}. Batched results have the mapped axis in front."
            )
    dims = [0 if flag else None for flag in flags]
    return [arrayed(x) for x in leaves], dims


def batch_rule(rules: FlatRules) -> Callable[..., Any]:
    """The rule of ``batching.batch`` of a primitive whose author defined one.

    If there are other rules as well, the batched function is a primitive with these, batched.
    """
    batch: Any = rules.batch
    alone = rules.reduce is None and not rules.differentiates

    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
    ) -> tuple[Any, Any]:
        args = [x if d is None else to_front(axis, x, d) for x, d in zip(args, dims)]
        dims = [None if d is None else 0 for d in dims]
        program = body_of(params)
        if alone or program is None:
            return batch(axis, args, dims)
        primitive, call = rules.derived(
            program,
            ("batched", axis, tuple(dims)),
            lambda: _batched(rules, program, axis, args, dims),
        )
        return primitive.bind(*args, **call), [0] * len(program.out_avals)

    return rule


def _batched(
    rules: FlatRules, program: ClosedJaxpr, axis: Any, args: Sequence[Any], dims: Sequence[Any]
) -> Call:
    carrier = carrier_of(axis)
    ins = tuple(d is not None for d in dims)
    outs = (True,) * len(program.out_avals)
    lifting = Lifting(carrier, program.in_avals, ins, program.out_avals, outs)

    def run(*xs: Any) -> list[Any]:
        assert rules.batch is not None
        result, out_dims = rules.batch(axis, xs, dims)
        return [to_front(axis, x, d) for x, d in zip(result, out_dims)]

    body = stage_closed(run, [typeof(x) for x in args], f"the vmap rule of {rules.name}")
    body = ClosedJaxpr(body.jaxpr.replace(name=rules.name), body.consts)
    return program_call(lifted_rules(rules, lifting, batch=False), body)


def batching_rules(primitive: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    """The rule of ``batching.batch`` of a primitive whose author gave one."""
    return {} if rules.batch is None else {"batching.batch": batch_rule(rules)}
