"""Counts of a program: of each operation alone, and of operations of one line together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dovetail_core import ClosedJaxpr, Eqn, Var

from .cost import Cost, Nested, cost_rules, nbytes
from .results import RooflineResult, RooflineRuleContext, roofline_rules, shapes_of

Run = list[tuple[Eqn, Cost]]


def line_of(eqn: Eqn) -> tuple[str, int]:
    """The file and the number of the line that an operation is of."""
    return ("?", 0) if eqn.source is None else (eqn.source.filename, eqn.source.line)


class Flow:
    """The operations of a program in runs of one line; views stand for what they show.

    A run is taken as one kernel: what it makes and nothing else uses does not reach memory.
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._shown: dict[Any, Any] = {}  # per view what it shows, None where that is no memory
        self._users: defaultdict[Any, set[int]] = defaultdict(set)

    def add(self, eqn: Eqn, cost: Cost) -> None:
        """The next operation."""
        if cost.view:
            operands = [self._root(x) for x in eqn.invars] or [None] * len(eqn.outvars)
            self._shown.update(zip(eqn.outvars, operands))
        if not self.runs or not self.runs[-1] or line_of(self.runs[-1][0][0]) != line_of(eqn):
            self.runs.append([])
        self.runs[-1].append((eqn, cost))
        if not cost.view or cost.reads:
            self.use(eqn.invars, len(self.runs) - 1)

    def use(self, values: Any, run: int = -1) -> None:
        """Note what a run, or something else (-1), uses."""
        for x in values:
            self._users[self._root(x)].add(run)

    def end_run(self) -> None:
        """End the current run: the next operation begins another one."""
        self.runs.append([])

    def _root(self, x: Any) -> Any:
        return self._shown.get(x, x) if isinstance(x, Var) else None

    def leaves(self, run: int) -> Callable[[Var], bool]:
        """True if something outside of a run uses a value."""
        return lambda v: bool(self._users[v] - {run})

    def traffic(self, run: Run, leaves: Callable[[Var], bool]) -> tuple[float, float]:
        """The bytes that are read and written where operations are done together."""
        made = {v for eqn, _ in run for v in eqn.outvars}
        read: dict[Any, float] = {}
        written = 0.0
        for eqn, cost in run:
            written += cost.stored
            if not cost.view:
                sizes = cost.writes or [nbytes(v.aval) for v in eqn.outvars]
                written += sum(n for v, n in zip(eqn.outvars, sizes) if leaves(v))
            elif cost.reads is None:
                continue
            for x, n in zip(eqn.invars, cost.reads or [nbytes(x.aval) for x in eqn.invars]):
                root = self._root(x)
                if root is not None and root not in made:
                    read[root] = max(read.get(root, 0.0), min(n, nbytes(root.aval)))
        return sum(read.values()), written


class Options(NamedTuple):
    """See :func:`roofline`."""

    mesh: Any = None
    pin_lhs_in_vmem: bool = False
    pin_rhs_in_vmem: bool = False


def count(program: ClosedJaxpr, options: Options) -> RooflineResult:
    """The counts of a program: sums over its operations, and the most memory that they need."""
    result = RooflineResult(peak_hbm_bytes=_peak(program))
    flow = Flow()
    for eqn in program.eqns:
        result += _operation(eqn, flow, options)
    return result


def _operation(eqn: Eqn, flow: Flow, options: Options) -> RooflineResult:
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    own = roofline_rules.get(eqn.primitive)
    if own is not None:
        context = RooflineRuleContext(
            name_stack=eqn.source.scope if eqn.source else "",
            primitive=eqn.primitive,
            avals_in=ins,
            avals_out=outs,
            jaxpr_eqn_ctx=None,
            **options._asdict(),
        )
        return own(context, *shapes_of(ins), **eqn.params)
    cost = cost_rules[eqn.primitive](ins, outs, **eqn.params)
    if isinstance(cost, Nested):
        return _nested(cost, options)
    flow.add(eqn, cost)
    moved = sum(flow.traffic([(eqn, cost)], lambda v: True))
    work = int(cost.flops + cost.transcendentals)
    return RooflineResult(unfused_flops=work, unfused_hbm_bytes=int(moved))


def _nested(cost: Nested, options: Options) -> RooflineResult:
    """Of branches that with the most bytes and operations counts."""
    each = [count(p, options) for p in cost.programs]
    if cost.choice:
        each = [max(each, key=lambda r: (r.unfused_hbm_bytes, r.unfused_flops))]
    total = sum(each, RooflineResult())
    return total.times(1 if cost.times is None else cost.times)


def _peak(program: ClosedJaxpr) -> int:
    """The most bytes that are alive before the first operation, between two, or after the last."""
    jaxpr = program.jaxpr
    uses = Counter(_variables(jaxpr.outvars))
    for eqn in jaxpr.eqns:
        uses.update(_variables(eqn.invars))
    alive = {v for v in (*jaxpr.constvars, *jaxpr.invars) if uses[v]}
    peak = sum(nbytes(v.aval) for v in alive)
    for eqn in jaxpr.eqns:
        uses.subtract(_variables(eqn.invars))
        alive.update(v for v in eqn.outvars if uses[v])
        alive -= {v for v in _variables(eqn.invars) if not uses[v]}
        peak = max(peak, sum(nbytes(v.aval) for v in alive))
    return peak


def _variables(values: Sequence[Any]) -> list[Any]:
    return [x for x in values if isinstance(x, Var)]
