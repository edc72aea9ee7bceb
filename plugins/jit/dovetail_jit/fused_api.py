"""Functions of the library as compiled calls: one call in C++ where they are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper, wraps
from itertools import zip_longest
from typing import Any, TypeVar, cast

import numpy as np

from dovetail_base.arguments import array_of
from dovetail_base.errors import ArrayProtocolError
from dovetail_base.source_info import annotations_of
from dovetail_core import EVAL, ClosedJaxpr, Eqn, Operand, Tracer, evaluation, get_trace
from dovetail_tree.errors import explain_arguments
from dovetail_tree.util import calls, tree_leaves, tree_map, tree_unflatten
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.execution import make_call

from .call.miss import Call, Callee, Result, miss, moved
from .call.observers import Lines
from .call.program import Program, trace_function
from .call.signature import Arguments, split_arguments, types_of
from .primitive import call_program

F = TypeVar("F", bound=Callable[..., Any])
ARRAYS = (ArrayImpl, np.ndarray)


class _Fused(Callee):
    """A function of the library, called as one program where it is evaluated."""

    lines: Lines = "none"

    def __init__(
        self,
        f: Callable[..., Any],
        static: tuple[str, ...],
        profile: str | None,
    ) -> None:
        self._f = f
        self.name, self.profile = f.__name__, profile
        self.static_names = frozenset(static)
        self.static_nums = _positions(f, self.static_names)

    def split_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        return split_arguments(self._f, args, kwargs, self.static_nums, self.static_names)

    def traced(self, call: Call) -> Result | None:
        leaves, staged = call.arguments.leaves, get_trace() is not EVAL
        if staged and not any(isinstance(x, np.ndarray) for x in leaves):
            return Result(self._call_shared(call.arguments), None, True)
        if staged or any(isinstance(x, Tracer) for x in leaves):
            # What is known to the trace stays known.
            return Result(self._f(*call.args, **call.kwargs), None, True)
        return None

    def types(self, arguments: Arguments) -> Sequence[Any]:
        return types_of(arguments.leaves, lambda i: f"{self.name}, position {i}")

    def program(self, arguments: Arguments, avals: Sequence[Any]) -> Program:
        return trace_function(self._f, arguments, avals)

    def _call_shared(self, arguments: Arguments) -> Any:
        program = self.program(arguments, self.types(arguments))
        call = program.call.memo("without lines", lambda: _without_lines(program.call))
        outs = call_program(call, self.name, [*program.consts, *arguments.leaves])
        return tree_unflatten(program.out_tree, outs)


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
        unless: tells of arguments whether the function needs their values (or refuses them): such
            calls are made as they are.
        profile: of compilation: ``"default"`` rounds as ``jit`` does; None chooses by size.
        shared: whether all calls with arguments of the same types have one program in common, which
            pays where there are many operations.
    """

    def decorate(f: F) -> F:
        callee = _Fused(f, static, profile)

        def _on_miss(*args: Any, **kwargs: Any) -> Any:
            staged = get_trace() is not EVAL
            plain = (staged and not shared) or (not staged and evaluation.is_overridden())
            try:
                if plain or (unless is not None and unless(*args, **kwargs)):
                    return f(*args, **kwargs), None, True
                return miss(callee, args, kwargs)[:3]
            except ArrayProtocolError:
                result = _converted((args, kwargs))
                if result is None:
                    raise
            return _on_miss(*result[0], **result[1])[0], None, True

        call = make_call(
            f.__name__, f, _on_miss, static_argnums=callee.static_nums, static_argnames=static,
            key=("fused", f.__name__), registry=calls, shard_arg_fallback=moved,
            explain=explain_arguments,  # of arguments: C++ fails, and calls this nevertheless
        )  # fmt: skip
        return update_wrapper(call, f)  # type: ignore[return-value]

    return decorate


def _converted(arguments: Any) -> Any:
    """Arguments with objects that represent arrays replaced by these; None if there are none."""
    is_object = lambda x: array_of(x) is not x  # noqa: E731
    if not any(map(is_object, tree_leaves(arguments, is_leaf=is_object))):
        return None
    return tree_map(array_of, arguments, is_leaf=is_object)


def _without_lines(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without source locations: shared operations have that of each call, not of the
    first one."""
    return program.map_jaxpr(lambda p: p.replace(eqns=list(map(_eqn_without_line, p.eqns))))


def _eqn_without_line(eqn: Eqn) -> Eqn:
    # A program is shared by calls with the same annotations.
    changes: dict[str, Any] = {} if annotations_of(eqn.source) else {"source": None}
    if eqn.primitive.regions is not None:
        interface = eqn.primitive.regions(eqn.params)
        programs = [_without_lines(r.program) for r in interface.regions]
        operands = [Operand(kind, i) for i, kind in enumerate(interface.operands)]
        changes["params"] = interface.rebuild(programs, operands)
    return eqn.replace(**changes)


def _positions(f: Callable[..., Any], names: frozenset[str]) -> tuple[int, ...]:
    if not names:
        return ()
    code = f.__code__
    return tuple(i for i, n in enumerate(code.co_varnames[: code.co_argcount]) if n in names)


def one_call(*static: str, shared: bool = False) -> Callable[[F], F]:
    """Decorator of a public function of arrays and of ``static`` arguments: one C++ call where it
    is evaluated, its checks included; in a trace one call of a program, if it is ``shared``.

    Where other values are given, as lists, or statics that cannot be hashed, it is called as it is.
    """

    def decorate(f: F) -> F:
        code = cast("Any", f).__code__
        named = frozenset(static)
        fixed = [n in named for n in code.co_varnames[: code.co_argcount]]

        def unless(*args: Any, **kwargs: Any) -> bool:
            given = (
                *zip_longest(args, fixed[: len(args)], fillvalue=False),
                *((v, n in named) for n, v in kwargs.items()),
            )
            return not all(_is_known(x) if known else is_operand(x) for x, known in given)

        call = fused(static, unless=unless, shared=shared)(f)
        if not static:
            return call

        return forgiving(f, call, in_traces=shared)

    return decorate


def _is_known(x: Any) -> bool:
    return not isinstance(x, Tracer)


def is_operand(x: Any) -> bool:
    """Tell whether C++ takes ``x`` for an array: arrays, numbers and None."""
    kind = x.__class__
    if kind is int:
        return -(2**31) <= x < 2**31
    return kind in ARRAYS or kind is float or x is None or isinstance(x, Tracer)


def forgiving(f: F, call: F, in_traces: bool = False) -> F:
    """``call``, and ``f`` itself for arguments that C++ cannot hash, such as ``axis=[0, 1]``."""

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        if in_traces or get_trace() is EVAL:
            try:
                return call(*args, **kwargs) if kwargs else call(*args)
            except ValueError as e:
                if not cannot_be_hashed(e):
                    raise
        return f(*args, **kwargs)

    return run  # type: ignore[return-value]


def cannot_be_hashed(e: ValueError) -> bool:
    """Tell whether C++ refused a call because a static argument has no hash."""
    return str(e).startswith("Non-hashable static arguments")
