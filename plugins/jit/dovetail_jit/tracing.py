"""From a Python function to a program: tracing with remembered results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import local
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import asarray_in, asarray_on, host_constant, target_device
from dovetail_base.caches import ByIdentity, Cache
from dovetail_base.keys import exact_key
from dovetail_base.placements import surroundings
from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    Tracer,
    callable_name,
    consts_to_inputs,
    stage,
    typeof,
)
from dovetail_core.dispatch.axes import axes_key
from dovetail_core.registry.hooked import has_hooks, manager
from dovetail_core.rules.traced import anew, tracing
from dovetail_tree.util import tree_flatten, tree_unflatten
from dovetail_xla.config import trace_context

from .restrictions import refuse_tracing


class Program(NamedTuple):
    """A traced function.

    Attributes:
        call: the program, with what it closes over as leading inputs but for small constants.
        consts: their values (arrays, or tracers of an enclosing transformation).
        out_tree: structure of the result.
        seconds: how long tracing took.
        number: programs that are traced later have larger ones.
        closed: the program as it was traced, with all that it closes over as its constants.
    """

    call: ClosedJaxpr
    consts: list[Any]
    out_tree: Any
    seconds: float
    number: int
    closed: ClosedJaxpr


class Signature(NamedTuple):
    """What a function was traced for, and under what it is remembered.

    Attributes:
        statics: its static arguments, by position and by name, as keys
            (:func:`dovetail_base.keys.exact_key`); empty where there are none.
        in_tree: the structure of the other arguments, ``(args, kwargs)``.
        avals: their types.
        context: the values of all options that programs depend on.
        axes: the named axes around it.
    """

    statics: tuple[Any, ...]
    in_tree: Any
    avals: tuple[Any, ...]
    context: tuple[Any, ...]
    axes: Any


_programs: ByIdentity[Cache[Any, Program]] = ByIdentity()
_numbers = count(1)
_oldest = local()  # the number of the oldest program that this thread may use, if there is one


@contextmanager
def traced_anew() -> Iterator[None]:
    """In this thread, use no program that was traced before: what it was made of may have changed
    since, and nobody must be told later that it is made of what there is now."""
    outer = getattr(_oldest, "number", 0), getattr(anew, "wanted", False)
    _oldest.number, anew.wanted = next(_numbers), True
    try:
        yield
    finally:
        _oldest.number, anew.wanted = outer


def function_name(f: Any) -> str:
    """A function's name for programs and messages."""
    return callable_name(f)


def trace_program(
    f: Callable[..., Any], key: Any, in_tree: Any, avals: Sequence[Any], rebuild: Callable[..., Any]
) -> Program:
    """Trace ``f`` at types ``avals``; remembered per function, types, statics and configuration.

    Args:
        key: what else distinguishes this call (static arguments).
        rebuild: turns flat values into the call ``f(*args, **kwargs)``.
    """
    known = _remembered(f)
    full_key = (key, in_tree, tuple(avals), trace_context(), axes_key())
    found = known.get(full_key)
    if found is not None and not _is_outdated(found):
        return found
    start, name = time.perf_counter(), function_name(f)
    refuse_tracing(name)
    out_tree: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        leaves, tree = tree_flatten(rebuild(xs))
        out_tree[:] = [tree]
        for x in leaves:
            _check_result(x, name, tree)
        return leaves

    with tracing():  # here and in no function of its own, a frame for each level of nested calls
        jaxpr, consts = stage(flat, avals, name)
    seconds = time.perf_counter() - start
    call, passed = _embedding(jaxpr, consts)
    closed = ClosedJaxpr(jaxpr, consts) if jaxpr.constvars else call
    found = Program(call, passed, out_tree[0], seconds, next(_numbers), closed)
    if has_hooks("dovetail_traced"):
        manager().hook.dovetail_traced(
            name=name, program=found.call, seconds=seconds, function=f,
            signature=Signature(*full_key),
        )  # fmt: skip
    # A program that closes over a tracer belongs to the transformation that is running.
    if not any(isinstance(c, Tracer) for c in found.consts):
        known[full_key] = found
    return found


def _embedding(jaxpr: Jaxpr, consts: list[Any]) -> tuple[ClosedJaxpr, list[Any]]:
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
    """Whether effects may say positions among all variables, constants first."""
    avals = [v.aval for v in (*jaxpr.constvars, *jaxpr.invars)]
    return any(a.is_mutable or a.has_mutable_type for a in avals)


def signatures(f: Any) -> list[Signature]:
    """What ``f`` has been traced for, as far as that is remembered, the oldest first."""
    return [Signature(*key) for key in list(_remembered(f))]


def _is_outdated(program: Program) -> bool:
    """Whether a program is too old (see :func:`traced_anew`), or a mutable value that it closes
    over now holds values of other types."""
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
    """Trace ``f`` again when it is next asked for."""
    _remembered(f).clear()


def as_array(x: Any) -> Any:
    """An argument of a function whose operations are put in place of a call: an array, as in it."""
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


class Arguments(NamedTuple):
    """A call's arguments taken apart."""

    leaves: list[Any]
    in_tree: Any
    statics: tuple[Any, ...]
    rebuild: Callable[..., Any]


def take_apart(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    static_nums: Sequence[int],
    static_names: frozenset[str],
) -> Arguments:
    """Split static from dynamic arguments, and flatten the dynamic ones."""
    if not static_nums and not (static_names and kwargs):
        leaves, in_tree = tree_flatten((args, kwargs))

        def rebuild_all(xs: Sequence[Any]) -> Any:
            a, k = tree_unflatten(in_tree, xs)
            return f(*a, **k)

        return Arguments(leaves, in_tree, (), rebuild_all)
    nums = {n % len(args) for n in static_nums if -len(args) <= n < len(args)}
    dynamic = tuple([x for i, x in enumerate(args) if i not in nums])
    fixed = {k: v for k, v in kwargs.items() if k in static_names}
    leaves, in_tree = tree_flatten((dynamic, {k: v for k, v in kwargs.items() if k not in fixed}))
    statics = (
        tuple((i, exact_key(args[i])) for i in sorted(nums)),
        tuple((k, exact_key(v)) for k, v in sorted(fixed.items())),
    )

    def rebuild(xs: Sequence[Any]) -> Any:
        given, k = tree_unflatten(in_tree, xs)
        rest = iter(given)
        a = [args[i] if i in nums else next(rest) for i in range(len(args))]
        return f(*a, **k, **fixed)

    return Arguments(leaves, in_tree, statics, rebuild)
