"""Eager operations: one cached C++ callable per primitive and parameters, and fused functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, update_wrapper
from typing import Any, TypeVar

import numpy as np

from dovetail_backends import asarray_in, asarray_on, check_usable
from dovetail_base.annotations import annotations_of
from dovetail_base.arguments import array_of
from dovetail_base.caches import Cache
from dovetail_base.errors import StandsForArray
from dovetail_core import (
    EVAL,
    ClosedJaxpr,
    Eqn,
    Operand,
    Primitive,
    Tracer,
    UnexpectedTracerError,
    check_alive,
    consts_to_inputs,
    current_source,
    describe_source,
    get_trace,
    stage,
    typeof,
)
from dovetail_core.interpret.mutable import check_aliases
from dovetail_core.ir.programs import open_program, walk
from dovetail_core.rules.alive import keeps_only_itself
from dovetail_core.rules.evaluation import evaluates_otherwise
from dovetail_tree.errors import explain_arguments
from dovetail_tree.util import calls, tree_leaves, tree_map, tree_structure, tree_unflatten
from dovetail_xla.calls import make_call
from dovetail_xla.config import trace_context
from dovetail_xla.shardings import SingleDeviceSharding

from .boundary import Boundary, boundary_of, call_boundary
from .by_parts import call_by_parts, note_whole
from .compilation import executable_for
from .first_calls import first_call
from .places import placement
from .primitive import call_program
from .timing import timing
from .tracing import Arguments, take_apart, trace_program
from .watching import Lines, fast_path, run, watching

F = TypeVar("F", bound=Callable[..., Any])
ONE = tree_structure(0)
SMALL, FEW = 12, 32
"""Programs of up to so many equations, on arrays of up to so many elements, are compiled by the
quick profile: it takes a third off the time to compile. Its loops are not vectorised, 3 ns more for
each element, which is a tenth of a call here, and 2 to 11 times the call for 10,000 elements."""
KEPT = 4096
"""How many parameters of one primitive have a callable at a time,"""
PROGRAMS = 512
"""and how many of one that holds sub-programs: these take much more memory."""


def fallback(x: Any, sharding: Any, layout: Any) -> Any:
    """An argument that is not where the executable runs, moved or copied there."""
    if layout is not None and (copy := layout.copied(x)) is not None:
        return copy
    aval: Any = typeof(x)
    if sharding.__class__ is SingleDeviceSharding:
        return asarray_on(x, aval, sharding._device)
    return asarray_in(x, aval, sharding)


def reject_tracers(leaves: Any, name: str) -> None:
    """Raise for a tracer that reached evaluation: its transformation is over or out of scope."""
    for x in leaves:
        if isinstance(x, Tracer):
            check_alive(x)
            raise UnexpectedTracerError(
                f"{name} is evaluated at once{describe_source(current_source())}, but an operand "
                f"{x!r} is being traced: the operation ran outside of the trace, in another "
                "thread. Give the function in that thread a value that is not traced, or run it "
                "in the thread that traces."
            )


def compiled_call(
    name: str, program_for: Callable[..., ClosedJaxpr], out_tree_for: Callable[[ClosedJaxpr], Any],
    lines: Lines, profile: str | None = None,
) -> Any:  # fmt: skip
    """A C++ callable for flat arguments: programs come from ``program_for(*avals)``."""

    again: Cache[Any, ClosedJaxpr] = Cache()  # what C++ does not repeat, and sends here each time

    def miss(*args: Any) -> Any:
        reject_tracers(args, name)
        avals = tuple([typeof(x) for x in args])
        program = again.get((avals, trace_context())) if again else None
        if program is None:
            program = program_for(*avals)
            if (
                watching()
                or timing.hear is not None
                or any(a.is_high or a.is_mutable for a in avals)
            ):
                again[avals, trace_context()] = program
        if (outs := call_by_parts(program, args)) is not None:
            return out_tree_for(program).unflatten(outs), None, True
        bound = boundary_of(program)
        if bound is not None:
            return out_tree_for(program).unflatten(_run_mutable(name, bound, args)), None, False
        place, committed = placement(args, name, program)
        tree, how = out_tree_for(program), profile or _profile(program)
        outs = first_call(program, name, args, place, committed, how)
        if outs is not None:
            again[avals, trace_context()] = program
            return tree.unflatten(outs), None, True
        ex = executable_for(program, name, place, profile=how)
        outs = run(ex, program, args, committed, lines)
        if note_whole(program, ex, args, partial(_flat_call, name, lines=lines, profile=how)):
            again[avals, trace_context()] = program
            return tree.unflatten(outs), None, True
        return tree.unflatten(outs), fast_path(ex, tree, committed, args), False

    def without_jit(*args: Any) -> Any:
        return miss(*args)[0]  # one operation is compiled all the same

    return make_call(
        name,
        without_jit,
        miss,
        key=("eager", name),
        registry=calls,
        shard_arg_fallback=fallback,
        explain=explain_arguments,
    )


def _flat_call(
    name: str, program_for: Callable[..., ClosedJaxpr], lines: Lines, profile: str | None = None
) -> Any:
    def out_tree(program: ClosedJaxpr) -> Any:
        return tree_structure([0] * len(program.out_avals))

    return compiled_call(name, program_for, out_tree, lines, profile)


def _run_mutable(name: str, bound: Boundary, args: Sequence[Any]) -> list[Any]:
    check_aliases(name, args, [f"operand {i}" for i in range(len(args))])
    place, committed = placement(bound.contents(args), name, bound.program)

    def executable(program: ClosedJaxpr, donated: Any) -> Any:
        return executable_for(program, name, place, donated=donated)

    return call_boundary(bound, args, (), executable, committed)


def _profile(program: ClosedJaxpr) -> str:
    return program.memo("profile", lambda: _profile_of(program))


def _profile_of(program: ClosedJaxpr) -> str:
    eqns = program.eqns
    used = [e.primitive for e in eqns]
    if len(eqns) > SMALL or any(p.regions is not None or p.traits.superlinear for p in used):
        return "default"
    sizes = [getattr(v.aval, "size", 0) for e in eqns for v in (*e.invars, *e.outvars)]
    return "quick" if max(sizes, default=0) <= FEW else "default"


def evaluator(primitive: Primitive) -> Callable[..., Any]:
    """The rule by which the evaluating trace computes ``primitive``: provider ``evaluator``."""
    calls: Cache[Any, Any] = Cache(KEPT if primitive.regions is None else PROGRAMS)
    bare: Any = None
    keys = primitive.keys

    def made(params: dict[str, Any]) -> Any:
        call = _operation(primitive, params)
        with suppress(TypeError):  # an unhashable parameter: compile each time
            calls[keys.new(params)] = call
        return call

    def rule(*args: Any, **params: Any) -> Any:
        nonlocal bare
        if not params:
            if bare is None:
                bare = _operation(primitive, params)
            call = bare
        else:
            try:
                call = calls[keys.of(params)]
            except (KeyError, TypeError):
                call = made(params)
        try:
            return call(*args)
        except ValueError:
            check_usable(args)  # C++'s own error for a donated array names nothing
            raise

    return rule


def _operation(primitive: Primitive, params: dict[str, Any]) -> Any:
    multiple = primitive.multiple_results

    def program_for(*avals: Any) -> ClosedJaxpr:
        def f(*xs: Any) -> list[Any]:
            out = primitive.bind(*xs, **params)
            return list(out) if multiple else [out]

        return consts_to_inputs(stage(f, avals, primitive.name)[0])

    def out_tree(program: ClosedJaxpr) -> Any:
        return tree_structure([0] * len(program.out_avals)) if multiple else ONE

    return compiled_call(primitive.name, program_for, out_tree, "inside")


def call_at_rest(program: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
    """Run a program without constants of its own at once: provider ``program_caller``."""
    call = program.memo("call", lambda: _shared_call(program, name))
    try:
        return call(*args)
    except ValueError:
        check_usable(args)
        raise


_shared: Cache[Any, Any] = Cache(PROGRAMS)


def _shared_call(program: ClosedJaxpr, name: str) -> Any:
    """The callable of an equal program from the same lines: what interprets a program makes such at
    each call, and they are compiled once. Not where it would keep alive what a call has made."""
    if not keeps_only_itself(program):
        return _compiled_program(program, name)
    key = name, program, tuple([e.source for p in walk(program) for e in open_program(p).eqns])
    try:
        found = _shared.get(key)
    except TypeError:  # an unhashable parameter
        return _compiled_program(program, name)
    if found is None:
        found = _shared[key] = _compiled_program(program, name)
    return found


def _compiled_program(program: ClosedJaxpr, name: str) -> Any:
    return _flat_call(name, lambda *avals: program, "all")


def fused(
    static: tuple[str, ...] = (),
    unless: Callable[..., bool] | None = None,
    profile: str | None = None,
    shared: bool = False,
) -> Callable[[F], F]:
    """Decorator: run a function of arrays as one compiled program when evaluated eagerly.

    What it makes is a C++ callable, so that a repeated eager call does not enter Python. Under any
    other trace, or given tracers, the function is called as it is and its operations join the
    program that is being traced; or they are one call of a program, if it is ``shared``.

    Args:
        static: names of arguments that are not arrays; they must be hashable.
        unless: says of some arguments that the function must see their values (or refuse them), so
            that such calls are made as they are.
        profile: of compilation: ``"default"`` rounds as ``jit`` does; None chooses by size.
        shared: whether all calls with arguments of the same types have one program in common, which
            pays where there are many operations.
    """

    def decorate(f: F) -> F:
        names = frozenset(static)
        nums = _positions(f, names)

        def miss(*args: Any, **kwargs: Any) -> Any:
            staged = get_trace() is not EVAL
            plain = (staged and not shared) or (not staged and evaluates_otherwise())
            try:
                if plain or (unless is not None and unless(*args, **kwargs)):
                    return f(*args, **kwargs), None, True
                arguments = take_apart(f, args, kwargs, nums, names)
                if staged and not any(isinstance(x, np.ndarray) for x in arguments.leaves):
                    return _call_shared(f, arguments), None, True
                if staged or any(isinstance(x, Tracer) for x in arguments.leaves):
                    return f(*args, **kwargs), None, True  # what is known to the trace stays known
                return _run_fused(f, arguments, profile)
            except StandsForArray:
                found = _converted((args, kwargs))
                if found is None:
                    raise
            return miss(*found[0], **found[1])[0], None, True

        call = make_call(
            f.__name__, f, miss, static_argnums=nums, static_argnames=static,
            key=("fused", f.__name__), registry=calls, shard_arg_fallback=fallback,
            explain=explain_arguments,  # of arguments: C++ fails, and calls this nevertheless
        )  # fmt: skip
        return update_wrapper(call, f)  # type: ignore[return-value]

    return decorate


def _converted(arguments: Any) -> Any:
    """Arguments in which objects that stand for arrays are these, None if there are none."""
    is_object = lambda x: array_of(x) is not x  # noqa: E731
    if not any(map(is_object, tree_leaves(arguments, is_leaf=is_object))):
        return None
    return tree_map(array_of, arguments, is_leaf=is_object)


def _call_shared(f: Callable[..., Any], arguments: Arguments) -> Any:
    leaves, avals = arguments.leaves, _types(f, arguments.leaves)
    program = trace_program(f, arguments.statics, arguments.in_tree, avals, arguments.rebuild)
    call = program.call.memo("placeless", lambda: _placeless(program.call))
    outs = call_program(call, f.__name__, [*program.consts, *leaves])
    return tree_unflatten(program.out_tree, outs)


def _placeless(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without its lines: operations that calls have in common are where the call is,
    not where the first one was."""
    return program.map_jaxpr(lambda p: p.replace(eqns=list(map(_placeless_eqn, p.eqns))))


def _placeless_eqn(eqn: Eqn) -> Eqn:
    # A program is shared by calls with the same annotations.
    changes: dict[str, Any] = {} if annotations_of(eqn.source) else {"source": None}
    if eqn.primitive.regions is not None:
        interface = eqn.primitive.regions(eqn.params)
        programs = [_placeless(r.program) for r in interface.regions]
        operands = [Operand(kind, i) for i, kind in enumerate(interface.operands)]
        changes["params"] = interface.rebuild(programs, operands)
    return eqn.replace(**changes)


def _positions(f: Callable[..., Any], names: frozenset[str]) -> tuple[int, ...]:
    if not names:
        return ()
    code = f.__code__
    return tuple(i for i, n in enumerate(code.co_varnames[: code.co_argcount]) if n in names)


def _types(f: Callable[..., Any], leaves: Sequence[Any]) -> list[Any]:
    try:
        return [typeof(x) for x in leaves]
    except (TypeError, ValueError) as e:
        raise _at_position(f.__name__, leaves, e) from None


def _at_position(name: str, leaves: Sequence[Any], error: Exception) -> Exception:
    """The error of the first operand that has no type."""
    for position, x in enumerate(leaves):
        try:
            typeof(x)
        except (TypeError, ValueError) as e:
            return type(e)(f"{name}, position {position}: {e}")
    return error


def _run_fused(f: Callable[..., Any], arguments: Arguments, profile: str | None) -> Any:
    leaves, avals = arguments.leaves, _types(f, arguments.leaves)
    program = trace_program(f, arguments.statics, arguments.in_tree, avals, arguments.rebuild)
    outs = None if program.consts else call_by_parts(program.call, leaves)
    if outs is not None:
        return tree_unflatten(program.out_tree, outs), None, True
    place, committed = placement(
        [*program.consts, *leaves], f.__name__, program.call, len(program.consts)
    )
    operands, chosen = [*program.consts, *leaves], profile or _profile(program.call)
    outs = first_call(program.call, f.__name__, operands, place, committed, chosen)
    if outs is not None:
        return tree_unflatten(program.out_tree, outs), None, True
    ex = executable_for(program.call, f.__name__, place, profile=chosen)
    outs = run(ex, program.call, operands, committed, "none")
    make = partial(_flat_call, f.__name__, lines="none", profile=chosen)
    if not program.consts and note_whole(program.call, ex, operands, make):
        return tree_unflatten(program.out_tree, outs), None, True
    path = fast_path(ex, program.out_tree, committed, leaves, program.consts)
    return tree_unflatten(program.out_tree, outs), path, False
