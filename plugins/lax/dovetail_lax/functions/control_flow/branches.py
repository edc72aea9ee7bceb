"""``cond``, ``switch`` and ``platform_dependent``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from dovetail_base.options import disable_jit
from dovetail_core import (
    EVAL,
    ClosedJaxpr,
    ShapedArray,
    Tracer,
    axis_names,
    float0,
    get_trace,
    here,
    mutable_values,
    trace_cache,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_structure, tree_unflatten

from ...primitives.collectives import vary_over
from ...primitives.control_flow import cond_p, platform_dependent_p
from ...primitives.values import convert_element_type_p
from ._staging import (
    Staged,
    check_function,
    check_structure,
    check_types,
    close_together,
    join_weak,
    name_of,
    operand_types,
    paths,
    refuse_meeting,
    stage_function,
    with_strong_outputs,
    with_varying,
)

_MISSING: Any = object()


def _only(name: str, operand: Any, operands: tuple[Any, ...]) -> tuple[Any]:
    if operands:
        raise TypeError(f"{name}: operands are given by position or as operand=, not both{here()}")
    return (operand,)


def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _MISSING
) -> Any:
    """Apply one of several functions, chosen by an integer.

    Args:
        index: an integer scalar; it is clamped to the range of ``branches``.
        branches: functions of the operands that return one structure of arrays of equal types.

    Under ``vmap`` with a mapped index all branches run and their results are selected.

    Raises:
        TypeError: the index is not an integer scalar, or branches return different types; names
            the path in the result. ValueError: no branches.
    """
    if operand is not _MISSING:
        operands = _only("switch", operand, operands)
    for i, f in enumerate(branches):
        check_function(f, f"switch: branches[{i}]")
    if not branches:
        raise ValueError(f"switch needs at least one branch{here()}")
    (aval,) = operand_types([index], tree_structure(0), "switch: the index")
    if aval.shape != () or aval.dtype.kind not in "iu":
        raise TypeError(
            f"switch: the index must be an integer scalar, got {aval.str_short()}{here()}. "
            "Convert it, for example with .astype('int32')."
        )
    if disable_jit.value and (known := _known(index)) is not None:
        return branches[min(max(int(known), 0), len(branches) - 1)](*operands)
    if len(branches) == 1:
        return branches[0](*operands)
    if get_trace() is EVAL:
        result = trace_cache().eager_call("switch", _switch_again, branches, (), index, *operands)
        if result is not NotImplemented:
            return result
    from ..values import clamp

    index = convert_element_type_p.bind(index, new_dtype=np.dtype(np.int32), weak_type=False)
    index = clamp(np.int32(0), index, np.int32(len(branches) - 1))
    return _bind("switch", index, branches, operands)


def _known(x: Any) -> Any:
    """The concrete value of ``x``, or None if it is traced without one."""
    return x.concrete() if isinstance(x, Tracer) else x


def _switch_again(branches: Sequence[Any], statics: Any, index: Any, *operands: Any) -> Any:
    return switch(index, branches, *operands)


def _bind(what: str, index: Any, functions: Sequence[Any], operands: Sequence[Any]) -> Any:
    leaves, in_tree = tree_flatten(tuple(operands))
    vma = typeof(index).vma
    if vma:
        leaves = [x if typeof(x).is_mutable else vary_over(x, sorted(vma, key=str)) for x in leaves]
    avals = operand_types(leaves, in_tree, f"{what}: operands")
    if vma:
        with axis_names.outer_values_vary(vma, get_trace()):
            staged = _staged(what, functions, in_tree, avals)
        refuse_meeting(what, staged, vma, "the index" if what == "switch" else "the predicate")
        # Results differ where the choice does.
        wanted = [a.with_vma(vma | a.vma) for a in staged[0].out_avals]
        staged = [with_strong_outputs(s, wanted) for s in with_varying(staged)]
    else:
        staged = _staged(what, functions, in_tree, avals)
    programs, consts = close_together(staged)
    if any(a.is_mutable for a in avals):
        names = ["a value that a branch closes over"] * len(consts)
        mutable_values.check_aliases(what, [*consts, *leaves], names + paths(in_tree, "operands"))
    given = [*consts, *leaves]
    through = _passed_through(programs, given)
    if through:
        programs = [_without(p, through) for p in programs]
    outs = cond_p.bind(index, *given, branches=tuple(programs))
    for at, operand in through.items():  # in rising order
        outs.insert(at, _array(given[operand]))
    return tree_unflatten(staged[0].out_tree, outs)


def _passed_through(programs: Sequence[ClosedJaxpr], given: Sequence[Any]) -> dict[int, int]:
    """The indices of results that are the same operand in all branches, with that operand's."""
    positions: list[dict[Any, int]] = [{v: i for i, v in enumerate(p.invars)} for p in programs]
    result: dict[int, int] = {}
    for at in range(len(programs[0].outvars)):
        first, *others = [of.get(p.outvars[at]) for of, p in zip(positions, programs)]
        if first is not None and all(operand == first for operand in others):
            result[at] = first
    return result


def _array(x: Any) -> Any:
    """A number or an array of NumPy as a result, which is an array; other values as they are."""
    aval = typeof(x)
    if hasattr(x, "aval") or not isinstance(aval, ShapedArray) or aval.dtype == float0:
        return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)


def _without(program: ClosedJaxpr, results: dict[int, int]) -> ClosedJaxpr:
    kept = [v for i, v in enumerate(program.outvars) if i not in results]
    return ClosedJaxpr(program.jaxpr.replace(outvars=kept))


def _staged(what: str, functions: Sequence[Any], in_tree: Any, avals: Sequence[Any]) -> Any:
    result: dict[int, Staged] = {}  # a function that is given twice is traced once
    for f in functions:  # a comprehension would be one more frame for each level of a nest
        if id(f) not in result:
            result[id(f)] = stage_function(f, in_tree, avals)
    return agree(what, functions, [result[id(f)] for f in functions])


def agree(what: str, functions: Sequence[Any], staged: list[Staged]) -> list[Staged]:
    """Branches that return results of one type, a strong one if the type of any branch is strong.

    Raises:
        TypeError: they do not; names the branches and the path in the result.
    """
    first, *others = staged
    label = [f"{name_of(f)} (branch {i})" for i, f in enumerate(functions)]
    for i, s in enumerate(others, 1):
        context = f"{what} branch outputs must have the same pytree structure"
        check_structure(context, label[0], first.out_tree, label[i], s.out_tree)
        context = f"{what}: the branches' results"
        names = paths(first.out_tree, "result")
        check_types(context, label[0], first.out_avals, label[i], s.out_avals, names)
    wanted = [reduce(join_weak, avals) for avals in zip(*(s.out_avals for s in staged))]
    return [with_strong_outputs(s, wanted) for s in staged]


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """``true_fun(*operands)`` if ``pred`` else ``false_fun(*operands)``.

    Args:
        pred: a boolean (or numeric) scalar.
        true_fun, false_fun: functions of the operands that return one structure of arrays of equal
            types.

    Under ``vmap`` with a mapped predicate both functions run and their results are selected.

    Raises:
        TypeError: the predicate is not a scalar, or the functions return different types; names
            the path in the result.
    """
    if operand is not _MISSING:
        operands = _only("cond", operand, operands)
    elif len(operands) == 2 and not callable(true_fun) and callable(operands[1]):
        return _five_arguments(pred, true_fun, false_fun, *operands)  # type: ignore[arg-type]
    check_function(true_fun, "cond: true_fun")
    check_function(false_fun, "cond: false_fun")
    (aval,) = operand_types([pred], tree_structure(0), "cond: the predicate")
    if aval.shape != () or aval.dtype.kind not in "biuf":
        raise TypeError(
            f"cond: the predicate must be a boolean scalar, got {aval.str_short()}{here()}. "
            "Reduce it (.any(), .all()), or use where or select to choose element by element."
        )
    if disable_jit.value and (known := _known(pred)) is not None:
        return true_fun(*operands) if known else false_fun(*operands)
    if get_trace() is EVAL:
        result = trace_cache().eager_call(
            "cond", _cond_again, (true_fun, false_fun), (), pred, *operands
        )
        if result is not NotImplemented:
            return result
    if aval.dtype.kind != "b":
        from ..discrete import ne

        pred = ne(pred, aval.dtype.type(0))
    index = convert_element_type_p.bind(pred, new_dtype=np.dtype(np.int32), weak_type=False)
    return _bind("cond", index, (false_fun, true_fun), operands)


def _cond_again(functions: Sequence[Any], statics: Any, pred: Any, *operands: Any) -> Any:
    return cond(pred, *functions, *operands)


def _five_arguments(
    pred: Any, true_operand: Any, true_fun: Any, false_operand: Any, false_fun: Any
) -> Any:
    """The older spelling ``cond(pred, true_operand, true_fun, false_operand, false_fun)``."""
    return cond(
        pred, lambda t, f: true_fun(t), lambda t, f: false_fun(f), true_operand, false_operand
    )


_FAMILIES = {"gpu": ("cuda", "rocm")}
"""Names of groups of platforms."""


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """Apply the function that is given for the platform on which the program will run.

    It is chosen when the program is lowered, so a traced function can be lowered for several
    platforms; the other functions are traced, but never lowered.

    Args:
        args: pytrees of arrays.
        default: for all platforms that are not named.
        per_platform: functions by platform (``cpu=``, ``cuda=``, ``rocm=``, ``tpu=``, ``gpu=`` for
            either kind, or another backend's name). All must return one structure of arrays of
            equal types.

    Raises:
        ValueError: there is no function at all. TypeError: functions return different types; names
            the path in the result. NotImplementedError (when it is lowered): there is none for
            the platform.
    """
    functions = [*per_platform.values(), *([] if default is None else [default])]
    if not functions:
        raise ValueError(
            f"platform_dependent needs a function{here()}: give one for a platform (cpu=...), or "
            "default=."
        )
    for name, f in per_platform.items():
        check_function(f, f"platform_dependent: {name}")
    if default is not None:
        check_function(default, "platform_dependent: default")
    if get_trace() is EVAL:
        statics = (*per_platform,), default is not None
        result = trace_cache().eager_call("platform_dependent", _again, functions, statics, *args)
        if result is not NotImplemented:
            return result
    leaves, in_tree = tree_flatten(args)
    avals = operand_types(leaves, in_tree, "platform_dependent: operands")
    staged = agree(
        "platform_dependent", functions, [stage_function(f, in_tree, avals) for f in functions]
    )
    programs, consts = close_together(staged)
    named: list[Any] = [_FAMILIES.get(name, (name,)) for name in per_platform]
    outs = platform_dependent_p.bind(
        *consts,
        *leaves,
        branches=tuple(programs),
        platforms=tuple(named if default is None else [*named, None]),
    )
    return tree_unflatten(staged[0].out_tree, outs)


def _again(functions: Sequence[Any], statics: tuple[Any, ...], *args: Any) -> Any:
    names, has_default = statics
    default = functions[-1] if has_default else None
    return platform_dependent(*args, default=default, **dict(zip(names, functions)))
