"""The function behind every compiled callable, for calls that C++ has not seen.

A callable is a function of ``jit``, an operation, a program or a function of the library: each is a
:class:`Callee`, which splits its arguments, makes its program and states the requirements of calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dovetail_backends import asarray_in, asarray_on
from dovetail_core import (
    ClosedJaxpr,
    Tracer,
    UnexpectedTracerError,
    check_alive,
    current_source,
    describe_source,
    mutable_values,
    typeof,
)
from dovetail_tree.util import tree_unflatten
from dovetail_xla.shardings import SingleDeviceSharding

from ..options import warn_of_captured
from .executable import Executable, Runnable
from .mutable_arguments import boundary_of, call_boundary
from .observers import Lines, Run, notify_observers, watching
from .placement import Wanted, placement
from .program import Program, bypassing_cache
from .providers import KNOWN_CALLS, compiled_for, executable_for
from .request import Request, compilation_key, profile_of
from .signature import Arguments


class Call(NamedTuple):
    """A call as its caller made it, and its flat arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    arguments: Arguments


class Result(NamedTuple):
    """The outcome of a call.

    Attributes:
        value: its result. path, again: how C++ repeats it, and whether it calls Python again (see
            :meth:`dovetail_jit.call.executable.Runnable.repeat`).
        calls_python: whether the program calls functions of Python.
    """

    value: Any
    path: Any = None
    again: bool = False
    calls_python: bool = False


class Requirements(NamedTuple):
    """Requirements of a call, beside the target on which it runs.

    Attributes:
        donated: per operand of the program, whether the call gives its memory away.
        backend: the one requested, if that is not PJRT and takes programs as they are.
        wanted: the shardings that are requested for the program's operands and results.
        layouts: the layouts of these.
    """

    donated: Sequence[bool] = ()
    backend: Any = None
    wanted: Wanted | None = None
    layouts: Wanted | None = None


NOTHING_REQUIRED = Requirements()


class Callee:
    """Something that is called, with the requirements of its calls: by default none.

    Attributes:
        name: of programs and in messages.
        lines: see :data:`dovetail_jit.call.observers.Lines`.
        profile: of compilation; None chooses by the program's size.
        options: of the compiler. keep_unused: whether a program takes what it does not use.
        is_operation: whether it is an operation or a function of the library, not of ``jit``.
        has_lookup: whether a provider may have its programs without tracing it.
        remembers: whether it keeps programs that C++ does not call by itself.
    """

    name: str
    lines: Lines = "all"
    profile: str | None = None
    options: Mapping[str, Any] = {}
    keep_unused = False
    is_operation = True
    has_lookup = False
    remembers = False

    def split_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The arguments of a call."""
        return Arguments(args, None, (), tuple)

    def traced(self, call: Call) -> Result | None:
        """The result of a call that becomes part of a program being traced; None if it is run.

        Raises:
            UnexpectedTracerError: an argument is traced, and the call is evaluated all the same.
        """
        for x in call.arguments.leaves:
            if isinstance(x, Tracer):
                raise _unexpected(self.name, x)
        return None

    def types(self, arguments: Arguments) -> Sequence[Any]:
        """The types of the arguments that are not static."""
        return tuple([typeof(x) for x in arguments.leaves])

    def lookup(self, arguments: Arguments, avals: Sequence[Any]) -> Any:
        """The answer of a provider that may know the program without tracing
        (``source_lookup``)."""
        return None

    def program(self, arguments: Arguments, avals: Sequence[Any]) -> Program:
        """The program for arguments of these types."""
        raise NotImplementedError

    def donated(self, call: Call, operands: Sequence[Any], consts: int) -> Sequence[bool]:
        """Per operand of the program, whether the call gives its memory away.

        Raises:
            ValueError: an array is given away, and is another operand, too.
        """
        return ()

    def keep(self, avals: Sequence[Any], program: Program) -> None:
        """Remember a program that C++ does not call by itself."""

    def required(self, call: Call, program: Program, operands: Sequence[Any]) -> Requirements:
        """Return the requirements of a call."""
        return NOTHING_REQUIRED

    def refuse_aliases(self, call: Call, program: Program) -> None:
        """Raise ValueError if one mutable value is two operands."""
        given = call.arguments.leaves
        mutable_values.check_aliases(self.name, given, [f"operand {i}" for i in range(len(given))])

    def target(
        self, operands: Sequence[Any], program: ClosedJaxpr, consts: int, wanted: Wanted | None
    ) -> tuple[Any, bool]:
        """The target of a call, and whether its results are committed to it (see ``placement``)."""
        return placement(operands, self.name, program, consts)


def miss(callee: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Trace, compile and run a call, and return how C++ repeats it."""
    arguments = callee.split_arguments(args, kwargs)
    call = Call(args, kwargs, arguments)
    if (result := callee.traced(call)) is not None:
        return result
    avals, lookup = callee.types(arguments), None
    if callee.has_lookup and (lookup := callee.lookup(arguments, avals)) is not None:
        if (results := lookup.find()) is not None:
            return _run_known_program(callee, call, results)
        with bypassing_cache():
            program = callee.program(arguments, avals)
    else:
        program = callee.program(arguments, avals)
    return _evaluate(callee, call, avals, program, lookup)


def _evaluate(
    callee: Callee, call: Call, avals: Sequence[Any], program: Program, lookup: Any
) -> Result:
    """Run the program of a call in the way that its operands and its caller require."""
    leaves = call.arguments.leaves
    operands = [*program.consts, *leaves] if program.consts else leaves
    for each in program.call.known(KNOWN_CALLS) or ():
        if (outs := each.run_known(operands)) is not None:
            return Result(tree_unflatten(program.out_tree, outs), None, True)
    required = callee.required(call, program, operands)
    if program.is_mutable:
        callee.refuse_aliases(call, program)
    if required.backend is not None:
        from .non_pjrt import call_backend  # which is rarely requested

        outs = call_backend(required.backend, callee, program, operands, required.donated)
        return Result(tree_unflatten(program.out_tree, outs))
    if program.is_mutable:
        result = _run_mutable(callee, program, operands, required)
    else:
        result = _run(callee, call, program, operands, required, lookup)
    if callee.remembers and result.path is None:
        callee.keep(avals, program)
    return result


def _run(
    callee: Callee,
    call: Call,
    program: Program,
    operands: Sequence[Any],
    required: Requirements,
    lookup: Any,
) -> Result:
    """Run a program on the devices of its operands, and return how C++ repeats it."""
    pure, leaves = program.call, call.arguments.leaves
    if program.consts or pure.consts:
        warn_of_captured(callee.name, [*program.consts, *pure.consts])
    target, committed = callee.target(operands, pure, len(program.consts), required.wanted)
    request = _request(callee, pure, target, required.donated, required.layouts)
    request.may_be_provisional = lookup is None and required.layouts is None
    ex = executable_for(request)
    if required.layouts is not None:
        _check_layouts(ex, operands)
    outs = ex.run(operands, committed)
    if outs is None:  # it does not run on these operands
        ex = compiled_for(request.final())
        outs = ex.run(operands, committed)
    if watching():
        notify_observers(Run(pure, callee.name, operands, outs, callee.lines))
    path, again = ex.repeat(program.out_tree, committed, leaves, program.consts)
    if lookup is not None:
        lookup.keep(program, ex)
    return Result(tree_unflatten(program.out_tree, outs), path, again, ex.calls_python)


def _request(
    callee: Callee,
    program: ClosedJaxpr,
    target: Any,
    donated: Sequence[Any],
    wanted_layouts: Wanted | None,
) -> Request:
    layouts = None
    if wanted_layouts is not None:
        from .layouts import requested_layouts

        layouts = requested_layouts(program, callee.name, wanted_layouts)
    profile = callee.profile or profile_of(program)
    options, is_operation = callee.options, callee.is_operation
    key = compilation_key(target, donated, callee.keep_unused, options, profile, layouts)
    return Request(program, callee.name, key, options, is_operation=is_operation)


def _check_layouts(ex: Runnable, operands: Sequence[Any]) -> None:
    from .layouts import check_layouts

    if ex.compiled is not None:
        check_layouts(ex.compiled, operands)


def _run_mutable(
    callee: Callee, program: Program, operands: Sequence[Any], required: Requirements
) -> Result:
    """Run a program with mutable operands: C++ cannot repeat it, but it is compiled once."""
    bound = boundary_of(program.call)
    assert bound is not None
    consts = len(bound.contents(program.consts))
    wanted, layouts = bound.wanted(required.wanted), bound.wanted(required.layouts)
    target, committed = callee.target(bound.contents(operands), bound.program, consts, wanted)

    def executable(pure: ClosedJaxpr, flags: Sequence[Any]) -> Executable:
        request = _request(callee, pure, target, flags, layouts)
        request.may_be_provisional = layouts is None and not callee.is_operation
        return compiled_for(request)

    outs = call_boundary(bound, callee.name, operands, required.donated, executable, committed)
    return Result(tree_unflatten(program.out_tree, outs))


def _run_known_program(callee: Callee, call: Call, result: Any) -> Result:
    """Run an executable that a provider had without tracing."""
    leaves = call.arguments.leaves
    operands = [*result.consts, *leaves]
    callee.donated(call, operands, len(result.consts))
    outs = result.executable.run(operands, result.committed)
    path, again = result.executable.repeat(result.out_tree, result.committed, leaves, result.consts)
    return Result(tree_unflatten(result.out_tree, outs), path, again)


def moved(x: Any, sharding: Any, layout: Any) -> Any:
    """An argument that is not on the device of the executable, moved or copied there."""
    if layout is not None and (copy := layout.copied(x)) is not None:
        return copy
    aval: Any = typeof(x)
    if sharding.__class__ is SingleDeviceSharding:
        return asarray_on(x, aval, sharding._device)
    return asarray_in(x, aval, sharding)


def _unexpected(name: str, x: Tracer) -> UnexpectedTracerError:
    """The error for a tracer that is evaluated: its transformation is over or out of scope."""
    check_alive(x)
    return UnexpectedTracerError(
        f"{name} is evaluated at once{describe_source(current_source())}, but an operand "
        f"{x!r} is being traced: the operation ran outside of the trace, in another "
        "thread. Give the function in that thread a value that is not traced, or run it "
        "in the thread that traces."
    )
