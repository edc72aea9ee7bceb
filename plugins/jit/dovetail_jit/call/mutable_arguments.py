"""Mutable arguments of compiled calls: their contents are operands and results of the program.

A compiled program has no references. It takes their contents instead, gives the memory of those
that it writes to their new contents, and returns these after its results.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from dovetail_backends import InPlace
from dovetail_core import ClosedJaxpr, Tracer, mutable_values, typeof
from dovetail_tree.util import keystr, tree_flatten_with_path

from .executable import run
from .observers import watching
from .placement import Wanted


class Boundary(NamedTuple):
    """The pure program behind one with mutable inputs, and how it is called.

    Attributes:
        program: takes the contents of mutable inputs; returns the results, and then the new
            contents of the inputs that it writes.
        written: the positions of those inputs.
        avals: types of the inputs as the caller sees them. results: how many results there are.
        finals: the types that the written inputs have in the end.
    """

    program: ClosedJaxpr
    written: tuple[int, ...]
    avals: tuple[Any, ...]
    results: int
    finals: tuple[Any, ...]

    def donated(self, flags: Sequence[Any]) -> tuple[Any, ...]:
        """Per input of :attr:`program` whether its memory is given away, and to which result."""
        output = self.results
        final = dict(zip(self.written, self.finals))
        result: list[Any] = []
        for i, aval in enumerate(self.avals):
            if not aval.is_mutable:
                result.append(flags[i] if flags else False)
                continue
            same = final.get(i) == aval and aval.owns_contents
            for k in range(len(aval.content_types())):
                result.append(InPlace(output + k) if same else False)
            output += len(final[i].content_types()) if i in final else 0
        return tuple(result)

    def contents(self, operands: Sequence[Any], copied: bool = False) -> list[Any]:
        """The operands of :attr:`program`; ``copied``: copies of those that others may write."""
        result: list[Any] = []
        for x, a in zip(operands, self.avals):
            held = a.take(x) if a.is_mutable else (x,)
            shared = copied and a.is_mutable and a.lock(x) is not None
            result += map(copy.copy, held) if shared else held
        return result

    def wanted(self, requested: Wanted | None) -> Wanted | None:
        """The requested shardings or layouts of the operands and results of :attr:`program`."""
        if requested is None:
            return None
        ins: list[Any] = []
        for s, a in zip(requested.ins, self.avals):
            ins += [None] * len(a.content_types()) if a.is_mutable else [s]
        more = len(self.program.out_avals) - self.results
        return Wanted(tuple(ins), (*requested.outs, *[None] * more))

    def locked(self, operands: Sequence[Any]) -> ExitStack:
        """Keeps other threads from the mutable operands; two calls lock them in one order."""
        result = [a.lock(x) for x, a in zip(operands, self.avals) if a.is_mutable]
        stack = ExitStack()
        for lock in sorted((lock for lock in result if lock is not None), key=id):
            stack.enter_context(lock)
        return stack

    def finish(self, operands: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
        """Write new contents back; returns the results."""
        rest = iter(outs[self.results :])
        for i, aval in zip(self.written, self.finals):
            aval.put(operands[i], [next(rest) for _ in aval.content_types()])
        return list(outs[: self.results])


def boundary_of(program: ClosedJaxpr) -> Boundary | None:
    """The boundary of ``program``, or None if none of its inputs is mutable; remembered with it."""
    return program.memo("boundary", lambda: _make_boundary(program))


def _make_boundary(program: ClosedJaxpr) -> Boundary | None:
    avals = tuple(program.in_avals)
    if not mutable_values.any_mutable(avals):
        return None
    flags = tuple(a.is_mutable for a in avals)
    pure, written = mutable_values.discharge_provider().program(program, flags)
    finals = tuple(mutable_values.final_type(program, i) for i in written)
    return Boundary(pure, written, avals, len(program.out_avals), finals)


def call_boundary(
    bound: Boundary,
    name: str,
    operands: Sequence[Any],
    flags: Sequence[Any],
    executable: Callable[..., Any],
    committed: bool,
) -> list[Any]:
    """Run a program with mutable inputs.

    An exception leaves them with what they held: nothing is written back before the program has
    run, and where Python code runs in it, which may fail, it writes to memory of its own.

    Args:
        executable: compiles a program, ``executable(program, donated)``.
    """
    bound.contents(operands)  # raises where there are none
    ex = executable(bound.program, () if watching() else bound.donated(flags))
    if not ex.module.host_callbacks:
        with bound.locked(operands):
            contents = bound.contents(operands)
            return bound.finish(operands, run(ex, bound.program, name, contents, committed))
    # A callback may use them, so that no lock can be held: the program runs on copies.
    with bound.locked(operands):
        contents = bound.contents(operands, copied=True)
    outs = run(ex, bound.program, name, contents, committed)
    for x in outs:
        x.block_until_ready()
    with bound.locked(operands):
        return bound.finish(operands, outs)


def held_values(leaves: Sequence[Any]) -> list[Any]:
    """Arguments, with mutable ones replaced by their contents."""
    result: list[Any] = []
    for x in leaves:
        a: Any = typeof(x)
        if not a.is_mutable:
            result.append(x)
        else:
            result += [x] * len(a.content_types()) if isinstance(x, Tracer) else a.take(x)
    return result


def refuse_aliases(
    name: str, args: Any, kwargs: Any, consts: Sequence[Any], leaves: Sequence[Any]
) -> None:
    """Raise ValueError where one mutable value is two arguments, or also closed over."""
    if len({id(x) for x in (*consts, *leaves)}) == len(consts) + len(leaves):
        return
    names = ["a value that it closes over"] * len(consts) + [
        f"leaf {i}" for i in range(len(leaves))
    ]
    result = tree_flatten_with_path((args, kwargs))[0]
    where: dict[int, list[str]] = {}
    for p, x in result:
        path = f"{'kwargs' if p[0].idx else 'args'}{keystr(p[1:])}"  # type: ignore[attr-defined]
        where.setdefault(id(x), []).append(path)
    for i, x in enumerate(leaves):
        paths = where.get(id(x), [])
        if paths:
            names[len(consts) + i] = paths.pop(0)
    mutable_values.check_aliases(f"jit of {name}", [*consts, *leaves], names)
