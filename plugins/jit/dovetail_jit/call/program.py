"""From a signature to a program: functions are traced, and their programs remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import local
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import asarray_in, asarray_on, host_constant, target_device
from dovetail_base.caches import Cache, WeakTable
from dovetail_base.placements import surroundings
from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    Tracer,
    axis_names,
    consts_to_inputs,
    mutable_values,
    stage,
    typeof,
)
from dovetail_hooks import has_hooks, manager
from dovetail_tree.util import tree_flatten
from dovetail_xla.config import trace_context

from ..options import no_tracing, refuse_tracing
from ..trace_cache.cache import bypass, tracing
from .signature import Arguments, Signature, function_name


class Program(NamedTuple):
    """A traced function.

    Attributes:
        call: the program, with what it closes over as leading inputs but for small constants.
        consts: their values (arrays, or tracers of an enclosing transformation).
        out_tree: structure of the result.
        seconds: how long tracing took.
        number: programs that are traced later have larger ones.
        closed: the program as it was traced, with all that it closes over as its constants.
        is_mutable: whether any of its inputs is mutable.
    """

    call: ClosedJaxpr
    consts: list[Any]
    out_tree: Any
    seconds: float
    number: int
    closed: ClosedJaxpr
    is_mutable: bool = False


_programs: WeakTable[Cache[Any, Program]] = WeakTable()
_numbers = count(1)
_oldest = local()  # the number of the oldest program that this thread may use, if there is one


@contextmanager
def bypassing_cache() -> Iterator[None]:
    """In this thread, use no program that was traced before: what it was made of may have changed
    since, and it must not be recorded as made of the present state."""
    outer = getattr(_oldest, "number", 0), getattr(bypass, "wanted", False)
    _oldest.number, bypass.wanted = next(_numbers), True
    try:
        yield
    finally:
        _oldest.number, bypass.wanted = outer


def trace_function(f: Callable[..., Any], arguments: Arguments, avals: Sequence[Any]) -> Program:
    """The program of ``f`` for arguments of types ``avals``; remembered by the whole signature.

    Raises:
        TypeError: ``f`` returns a value that is no array; names the function.
        RuntimeError: the option ``no_tracing`` forbids it.
    """
    known = _remembered(f)
    signature = Signature(
        arguments.statics, arguments.in_tree, tuple(avals), trace_context(), axis_names.axes_key()
    )
    result = known.get(signature)
    if result is not None and not _is_outdated(result):
        return result
    start, name = time.perf_counter(), function_name(f)
    if no_tracing.value:
        refuse_tracing(name)
    rebuild, out_tree = arguments.rebuild, list[Any]()

    def flat(*xs: Any) -> list[Any]:
        leaves, tree = tree_flatten(rebuild(xs))
        out_tree[:] = [tree]
        for x in leaves:
            _check_result(x, name, tree)
        return leaves

    with tracing():  # here and in no function of its own, a frame for each level of nested calls
        jaxpr, consts = stage(flat, avals, name)
    seconds = time.perf_counter() - start
    call, passed = _with_passed_constants(jaxpr, consts)
    closed = ClosedJaxpr(jaxpr, consts) if jaxpr.constvars else call
    number, is_mutable = next(_numbers), mutable_values.any_mutable(call.in_avals)
    result = Program(call, passed, out_tree[0], seconds, number, closed, is_mutable)
    if has_hooks("dovetail_traced"):
        manager().hook.dovetail_traced(
            name=name, program=call, seconds=seconds, function=f, signature=signature
        )
    # A program that closes over a tracer belongs to the transformation that is running.
    if not any(isinstance(c, Tracer) for c in passed):
        known[signature] = result
    return result


def trace_program(
    f: Callable[..., Any], key: Any, in_tree: Any, avals: Sequence[Any], rebuild: Callable[..., Any]
) -> Program:
    """:func:`trace_function`, of arguments that are given one by one.

    Args:
        key: what else distinguishes this call (static arguments).
        rebuild: turns flat values into the call ``f(*args, **kwargs)``.
    """
    return trace_function(f, Arguments((), in_tree, key, rebuild), avals)


def _with_passed_constants(jaxpr: Jaxpr, consts: list[Any]) -> tuple[ClosedJaxpr, list[Any]]:
    """The program, with small constants of its own and the others as leading inputs, and the values
    of those others. XLA calculates with what it knows, and calls need not pass it."""
    known = [host_constant(c) for c in consts]
    if all(k is None for k in known) or _has_mutable(jaxpr):
        return consts_to_inputs(jaxpr), consts
    passed = [v for v, k in zip(jaxpr.constvars, known) if k is None]
    own = [v for v, k in zip(jaxpr.constvars, known) if k is not None]
    program = jaxpr.replace(constvars=own, invars=[*passed, *jaxpr.invars])
    closed = ClosedJaxpr(program, [k for k in known if k is not None])
    return closed, [c for c, k in zip(consts, known) if k is None]


def _has_mutable(jaxpr: Jaxpr) -> bool:
    """Tell whether effects may say positions among all variables, constants first."""
    avals = [v.aval for v in (*jaxpr.constvars, *jaxpr.invars)]
    return any(a.is_mutable or a.has_mutable_type for a in avals)


def signatures(f: Any) -> list[Signature]:
    """The signatures for which ``f`` has been traced, as far as that is remembered, the oldest
    first."""
    return list(_remembered(f))


def _is_outdated(program: Program) -> bool:
    """Tell whether a program is too old (see :func:`bypassing_cache`), or a mutable value that it
    closes over now holds values of other types."""
    if program.number < getattr(_oldest, "number", 0):
        return True
    pairs = zip(program.consts, program.call.in_avals)
    return any(a.has_mutable_type and typeof(c) != a for c, a in pairs)


def _remembered(f: Any) -> dict[Any, Program]:
    try:
        return _programs.of(f, Cache)
    except TypeError:  # not weakly referable: nothing to remember it by
        return {}


def forget(f: Any) -> None:
    """Drop the programs of ``f``, so that it is traced again."""
    _remembered(f).clear()


def as_array(x: Any) -> Any:
    """An argument of a function whose operations replace a call: an array, as in the call."""
    if not isinstance(x, (bool, int, float, complex, np.ndarray, np.generic)):
        return x
    around = surroundings()
    aval: Any = typeof(x)
    return asarray_on(x, aval, target_device()) if around is None else asarray_in(x, aval, around)


def _check_result(x: Any, name: str, tree: Any) -> None:
    try:
        typeof(x)
    except TypeError as e:
        raise TypeError(f"{name} returned a value that is not an array ({tree}): {e}") from None
