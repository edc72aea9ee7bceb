"""Eager evaluation: operations, and programs that are evaluated, as compiled callables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from dovetail_backends import check_usable
from dovetail_base.caches import Cache
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    consts_to_inputs,
    mutable_values,
    programs,
    stage,
)
from dovetail_tree.errors import explain_arguments
from dovetail_tree.util import calls, tree_structure
from dovetail_xla.config import trace_context
from dovetail_xla.execution import make_call

from .call.miss import Callee, miss, moved
from .call.observers import Lines
from .call.placement import Wanted, check_inner
from .call.program import Program
from .call.request import options_key
from .call.signature import Arguments
from .trace_cache.retention import is_self_contained

F = TypeVar("F", bound=Callable[..., Any])
ONE = tree_structure(0)
KEPT, PROGRAMS = 4096, 512
"""The largest number of parameters of one primitive that have a callable at a time; of a primitive
that holds sub-programs, which take much more memory."""


class _Flat(Callee):
    """A callee of flat operands whose program is a function of their types.

    Args:
        program_for: ``program_for(*avals)`` returns the program.
        is_single: whether the call returns its only result itself, not a list.
    """

    remembers = True

    def __init__(
        self,
        name: str,
        program_for: Callable[..., ClosedJaxpr],
        lines: Lines,
        profile: str | None = None,
        is_single: bool = False,
    ) -> None:
        self.name, self.lines, self.profile = name, lines, profile
        self._program_for, self._is_single = program_for, is_single
        self._programs: Cache[Any, Program] = Cache()  # those that C++ does not call by itself

    def program(self, arguments: Arguments, avals: Sequence[Any]) -> Program:
        if self._programs:
            result = self._programs.get((avals, trace_context()))
            if result is not None:
                return result
        program = self._program_for(*avals)
        tree = ONE if self._is_single else tree_structure([0] * len(program.out_avals))
        return Program(
            program, [], tree, 0.0, 0, program, mutable_values.any_mutable(program.in_avals)
        )

    def keep(self, avals: Sequence[Any], program: Program) -> None:
        self._programs[avals, trace_context()] = program


class _EagerProgram(_Flat):
    """A program that is called as an operation.

    Args:
        requested: parameters of ``jit``: ``compiler_options_kvs``, ``device`` and ``keep_unused``,
            as far as they were given.
    """

    def __init__(self, program: ClosedJaxpr, name: str, requested: Mapping[str, Any]) -> None:
        is_plain = not requested
        super().__init__(name, lambda *avals: program, "all", None if is_plain else "default")
        self.is_operation = is_plain
        self.options = dict(requested.get("compiler_options_kvs", ()))
        self.keep_unused = requested.get("keep_unused", False)
        self._device = requested.get("device")

    def target(
        self, operands: Sequence[Any], program: ClosedJaxpr, consts: int, wanted: Wanted | None
    ) -> tuple[Any, bool]:
        if self._device is None:
            return super().target(operands, program, consts, wanted)
        check_inner(self.name, self._device, program)
        return self._device, True


def _callable(callee: Callee) -> Any:
    """A C++ callable for flat operands."""

    def _on_miss(*args: Any) -> Any:
        return miss(callee, args, {})[:3]

    def without_jit(*args: Any) -> Any:
        return miss(callee, args, {}).value  # a single operation is compiled nevertheless

    return make_call(
        callee.name,
        without_jit,
        _on_miss,
        key=("eager", callee.name),
        registry=calls,
        shard_arg_fallback=moved,
        explain=explain_arguments,
    )


def flat_call(name: str, program_for: Callable[..., ClosedJaxpr], profile: str) -> Any:
    """A compiled callable for flat operands: programs come from ``program_for(*avals)``."""
    return _callable(_Flat(name, program_for, "none", profile))


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

    return _callable(_Flat(primitive.name, program_for, "inside", is_single=not multiple))


def program_call(program: ClosedJaxpr, name: str, args: Sequence[Any]) -> Any:
    """Run a program at once: provider ``program_caller``. NotImplemented if it holds functions, as
    it would be compiled again at each call then."""
    return evaluate_program(program, name, args) if is_self_contained(program) else NotImplemented


def evaluate_program(
    program: ClosedJaxpr, name: str, args: Sequence[Any], requested: Mapping[str, Any] | None = None
) -> list[Any]:
    """Run a program without constants of its own at once.

    ``requested``: see :class:`_EagerProgram`.
    """
    if not requested:
        call = program.memo("call", lambda: _shared_call(program, name))
    else:
        options = options_key(dict(requested.get("compiler_options_kvs", ())))
        key = "call", options, requested.get("device"), requested.get("keep_unused")
        call = program.memo(key, lambda: _callable(_EagerProgram(program, name, requested)))
    try:
        return call(*args)
    except ValueError:
        check_usable(args)  # C++'s own error for a donated array names nothing
        raise


_shared: Cache[Any, Any] = Cache(PROGRAMS)


def _shared_call(program: ClosedJaxpr, name: str) -> Any:
    """The callable of an equal program from the same lines: interpreters make such programs at each
    call, and they are compiled once. Not if it would keep objects of a call alive."""
    if not is_self_contained(program):
        return _callable(_EagerProgram(program, name, {}))
    key = (
        name,
        program,
        tuple(
            [
                e.source
                for p in programs.walk_programs(program)
                for e in programs.open_program(p).eqns
            ]
        ),
    )
    try:
        result = _shared.get(key)
    except TypeError:  # an unhashable parameter
        return _callable(_EagerProgram(program, name, {}))
    if result is None:
        result = _shared[key] = _callable(_EagerProgram(program, name, {}))
    return result
