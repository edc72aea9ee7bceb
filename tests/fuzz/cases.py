"""Cases: a program, a stack of transformations over it, and a way to evaluate. What checks them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import ends, stateful, surroundings, transformations as tr
from .evaluation import EVALUATIONS, compiled, staged
from .generation import generate
from .laws import Unclear, agree, inexact
from .programs import Program, all_steps, kind_of, type_of
from .rendering import function

Arguments = tuple[Any, ...]
_ALL = {**tr.ALL, **surroundings.ALL, **stateful.ALL}


@dataclass(frozen=True)
class Case:
    """One thing to try.

    Attributes:
        points: arguments of the program at which its values are ordinary.
        stack: transformations, the innermost first.
        mode: how functions are evaluated: a key of ``EVALUATIONS``.
        seed: of what chooses among the points.
    """

    program: Program
    points: tuple[Arguments, ...]
    stack: tuple[Any, ...]
    mode: str
    seed: int

    def arguments(self, depth: int | None = None) -> Arguments:
        """Arguments of the program under the first transformations of the stack."""
        rng = random.Random(self.seed)
        stack = self.stack if depth is None else self.stack[:depth]

        def draw(rest: tuple[Any, ...]) -> Arguments:
            if not rest:
                return rng.choice(self.points)
            return rest[-1].arguments(lambda: draw(rest[:-1]))

        return draw(stack)


def case_of(seed: int, number: int, compile_every: int = 0) -> Case:
    """The case of a number; each ``compile_every``-th is compiled."""
    rng = random.Random(f"{seed} {number}")
    made = generate(rng)
    mode = rng.choices(["staged", "eager", "python"], [60, 35, 5])[0]
    if compile_every and number % compile_every == 0:
        mode = "compiled"
    case = Case(made.program, tuple(made.points), (), mode, rng.randrange(10**6))
    return replace(case, stack=_stack(case, rng))


def _stack(case: Case, rng: random.Random) -> tuple[Any, ...]:
    kinds = {s.kind for s in all_steps(case.program)}
    types = {n: t for s in case.program.steps for n, t in zip(s.outs, s.types)}
    types |= {n: type_of(x) for n, x in zip(case.program.params, case.points[0])}
    out_types = [types[n] for n in case.program.outs]
    depth = rng.choices([0, 1, 2, 3], [5, 35, 40, 20])[0]
    while len(case.stack) < depth:
        args = case.arguments()
        made = _transformation(args, kinds, out_types, case.stack, rng)
        case = replace(case, stack=(*case.stack, made))
    return case.stack


def _transformation(
    args: Any, kinds: Any, out_types: Any, below: tuple[Any, ...], rng: random.Random
) -> Any:
    orders = sum({tr.second: 2}.get(type(t), 1) for t in below if isinstance(t, tr.DERIVATIVES))
    orders += max((ends.ORDERS.get(kind, 0) for kind in kinds), default=0)
    outs = [kind_of(t.dtype) in "fc" for t in out_types]
    derivative = orders < 2 and any(outs) and any(inexact(x) for x in args)
    may_be_mapped = "cond writes" not in kinds and stateful.may_be_mapped(below, kinds)
    allowed = []
    for kind in _ALL:
        is_derivative = issubclass(kind, tr.DERIVATIVES)
        reverse = issubclass(kind, tr.REVERSE)
        if is_derivative and (not derivative or (reverse and "while" in kinds)):
            continue
        if kind is tr.second and orders:
            continue
        if kind is tr.jacobians and any(x.dtype.kind == "c" for x in args):
            continue
        if kind in tr.MAPS and not may_be_mapped:
            continue
        if stateful.is_outside(below) and (is_derivative or kind in tr.MAPS):
            continue
        if kind is tr.jacobians and stateful.gives_references(below, kinds):
            continue  # what a rule may have written is mapped, but jacfwd's value must not be
        allowed.append(kind)
    kind = rng.choices(allowed, [_ALL[k] for k in allowed])[0]
    if kind is tr.vmap:
        axes = [rng.choice([0, 0, np.ndim(x), None]) for x in args]
        axes[rng.randrange(len(args))] = 0
        return kind(tuple(axes), rng.choice([0, 0, -1]))
    if kind in (tr.jvp, tr.jvp_of_all, tr.linearize):
        more = (rng.random() < 0.3,) if kind is tr.linearize else ()
        return kind(len(args), *more)
    if kind is tr.closure:
        return kind(rng.choice(["jit", "checkpoint", "cond", "scan"]))
    if kind is tr.dce:
        return kind(outs.index(True) if any(outs) and not below else 0)
    if kind is tr.scan:
        return kind(rng.random() < 0.3, rng.choice([1, 1, 2]))
    if kind is tr.remat:
        return kind(rng.choice([None, "dots_saveable", "everything_saveable", "budget"]))
    if kind is surroundings.contexts:
        how = rng.choice(["plain", "custom_jvp", "custom_vjp"])
        return kind(how, rng.choice(["jit", "jit", "checkpoint", ""]))
    if kind is stateful.references:
        how = rng.choice(["custom_jvp", "custom_vjp", "argument"])
        return kind(how, rng.choice(["jit", "checkpoint", "scan", ""]))
    if kind is stateful.stashes:
        outside = not below and rng.random() < 0.5
        ways = ["jit", "checkpoint", "scan", ""] + ["vmap"] * (may_be_mapped and not outside)
        return kind(rng.choice(ways), outside)
    return kind()


def applied(stack: Iterable[Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """A function under transformations."""
    for t in stack:
        f = t.apply(f)
    return f


def check(case: Case) -> bool:
    """Try a case; False says that some law said nothing.

    Raises:
        Exception: what goes wrong: Wrong where results do, else what Dovetail raised.
    """
    f = function(case.program, "dovetail")
    point = random.Random(case.seed).choice(case.points)
    with np.errstate(all="ignore"):
        try:
            if case.mode == "compiled":
                _check_compiled(case, f)
            else:
                evaluate = EVALUATIONS[case.mode]
                want = function(case.program, "numpy")(*point)
                agree(evaluate(f)(*point), want, "values against NumPy")
                if case.stack:
                    *below, last = case.stack
                    inner = applied(below, f)
                    args = evaluate, staged, inner, last.apply(inner), case.arguments()
                    surroundings.check_under_contexts(case.stack, last, *args)
        except Unclear:
            return False
    return True


def _check_compiled(case: Case, f: Callable[..., Any]) -> None:
    g, args = applied(case.stack, f), case.arguments()
    agree(compiled(g)(*args), staged(g)(*args), "compiled against reference", 10)
