"""The values of a split program among which a budget chooses, their sizes and their users."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from dovetail_ad import Split
from dovetail_core import ClosedJaxpr, Eqn, IOEffect, Var
from dovetail_cost import Work, nbytes, size, work

_CHEAP = 16
"""Flops per element up to which an operation is fused with those around it."""


class Graph:
    """The known program of a split, and the values that each equation of the linear one reads.

    Attributes:
        known, linear: the equations of the two programs. ``works``: the work of each known one.
        producer: the known equation that defines a variable (inputs have none).
        operands: per known equation, the operands that are not inputs of the program.
        reads: per linear equation, the values of the known program that it takes.
        required: the values that are read, each with the linear equations that read it.
        inseparable: the linear equations that use a mutable value which one before them makes, or
            stand between such: a stage returns no mutable values.
    """

    def __init__(self, known: ClosedJaxpr, linear: ClosedJaxpr, split: Split) -> None:
        self.known: list[Eqn] = known.eqns
        self.linear: list[Eqn] = linear.eqns
        self.works: list[Work] = [work(e) for e in self.known]
        self.producer: dict[Var, int] = {v: i for i, e in enumerate(self.known) for v in e.outvars}
        self.residual_of: dict[Var, Any] = residual_variables(known, linear, split)
        self.reads = [self._read_by(e.invars) for e in self.linear]
        self.required: dict[Var, list[int]] = {}
        for at, values in enumerate(self.reads):
            for v in values:
                self.required.setdefault(v, []).append(at)
        for v in self._read_by(linear.jaxpr.outvars):
            self.required.setdefault(v, []).append(len(self.linear))
        self.sizes = {v: nbytes(v.aval) for v in self.producer}
        self.operands = [self._operands(e) for e in self.known]
        self.fixed = [any(isinstance(f, IOEffect) for f in e.effects) for e in self.known]
        self.materialised = self._materialised()
        self.cotangents = self._cotangents()
        self.inseparable = self._inseparable()

    def _read_by(self, atoms: Iterable[Any]) -> list[Var]:
        result = dict.fromkeys(
            self.residual_of[x] for x in atoms if isinstance(x, Var) and x in self.residual_of
        )
        return [v for v in result if isinstance(v, Var) and v in self.producer]

    def _operands(self, eqn: Eqn) -> list[Var]:
        result = dict.fromkeys(x for x in eqn.invars if isinstance(x, Var))
        return [v for v in result if v in self.producer]

    @property
    def forward(self) -> Work:
        """The work of the known program."""
        return Work(sum(w.flops for w in self.works), sum(w.bytes for w in self.works))

    def _materialised(self) -> set[Var]:
        """Values that are stored in memory when they are computed.

        Compilers fuse cheap elementwise operations into their consumers, so only operands and
        results of other operations are stored.
        """
        result: set[Var] = set()
        for eqn, w in zip(self.known, self.works):
            if not fuses(eqn, w):
                result.update(eqn.outvars)
                result.update(x for x in eqn.invars if isinstance(x, Var) and not reduces(eqn, w))
        for eqn, values in zip(self.linear, self.reads):
            if not fuses(eqn, work(eqn)):
                result.update(values)
        return result

    def _cotangents(self) -> list[int]:
        """Bytes of the cotangents that are alive while each linear equation is transposed.

        A cotangent lives from the last use of its variable, where it is first computed, to the
        definition of the variable.
        """
        defined = {v: i for i, e in enumerate(self.linear) for v in e.outvars}
        last: dict[Var, int] = {}
        for i, e in enumerate(self.linear):
            last.update((x, i) for x in e.invars if isinstance(x, Var) and x in defined)
        change = [0] * (len(self.linear) + 2)
        for v, end in last.items():
            change[defined[v]] += nbytes(v.aval)
            change[end + 1] -= nbytes(v.aval)
        return list(accumulate(change))

    def _inseparable(self) -> set[int]:
        made: dict[Any, int] = {}
        result: set[int] = set()
        for i, e in enumerate(self.linear):
            result.update(*(range(made[x] + 1, i + 1) for x in e.invars if x in made))
            made.update((v, i) for v in e.outvars if v.aval.is_mutable)
        return result


def fuses(eqn: Eqn, w: Work) -> bool:
    """True if a compiler fuses this operation into its consumers."""
    largest = max((size(v.aval) for v in eqn.outvars), default=0)
    single = len(eqn.outvars) == 1 and eqn.primitive.regions is None
    return single and w.flops <= _CHEAP * largest and not reduces(eqn, w)


def reduces(eqn: Eqn, w: Work) -> bool:
    """True if an operation's result is much smaller than its operands and its work is small."""
    sizes = [size(x.aval) for x in eqn.invars]
    out = sum(size(v.aval) for v in eqn.outvars)
    return w.flops > 0 and out * 2 <= max(sizes, default=0) and w.flops <= 4 * sum(sizes)


def residual_variables(known: ClosedJaxpr, linear: ClosedJaxpr, split: Split) -> dict[Var, Any]:
    """Maps each residual input of the linear program to a value of the known program."""
    n = split.num_known_outputs
    values = [
        known.jaxpr.invars[i] if direct else known.jaxpr.outvars[n + i]
        for direct, i in split.residuals
    ]
    return dict(zip(linear.jaxpr.invars, values))
