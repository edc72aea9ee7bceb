"""Results of a roofline, and rules for one's own primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from math import prod
from typing import Any, Protocol

import numpy as np

from dovetail_core import Primitive, RuleTable, here


def _none() -> dict[str, int]:
    return {}


@dataclass(frozen=True, kw_only=True)
class RooflineResult:
    """Operations and bytes.

    Attributes:
        flops, hbm_bytes: of products of matrices alone, as if all else were fused with them.
        unfused_flops, unfused_hbm_bytes: of every operation, each reading its operands from memory
            and writing its results there.
        ici_bytes, ici_latency: of the traffic between devices, by mesh axis; what rules say.
        peak_hbm_bytes: the most that is alive between two operations.

    Sums add all, but for the peak, of which they have the larger.
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict[str, int] = field(default_factory=_none)
    ici_latency: dict[str, int] = field(default_factory=_none)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls) -> RooflineResult:
        """Of nothing."""
        return cls()

    def __add__(self, other: RooflineResult) -> RooflineResult:
        return _combined((self, 1), (other, 1))

    def times(self, n: float) -> RooflineResult:
        """Of ``n`` runs."""
        return _combined((self, n))


def _combined(*terms: tuple[RooflineResult, float]) -> RooflineResult:
    result: dict[str, Any] = {}
    for f in fields(RooflineResult):
        values = [(getattr(r, f.name), n) for r, n in terms]
        if f.name == "peak_hbm_bytes":
            result[f.name] = max(v for v, _ in values)
        elif f.name.startswith("ici"):
            axes = dict.fromkeys(axis for v, _ in values for axis in v)
            result[f.name] = {a: sum(int(v.get(a, 0) * n) for v, n in values) for a in axes}
        else:
            result[f.name] = sum(int(v * n) for v, n in values)
    return RooflineResult(**result)


@dataclass(frozen=True, kw_only=True)
class RooflineShape:
    """The type of an operand or a result of an operation."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def from_aval(cls, aval: Any) -> RooflineShape:
        """That of an array type.

        Raises:
            TypeError: it is none.
        """
        if not hasattr(aval, "shape") or not hasattr(aval, "dtype"):
            raise TypeError(
                f"RooflineShape.from_aval{here()} takes a type of arrays, got {aval!r}. Give "
                "dovetail.typeof(x), or RooflineShape(shape=x.shape, dtype=x.dtype)."
            )
        return cls(shape=tuple(aval.shape), dtype=aval.dtype)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """The number of bytes."""
        return self.size * np.dtype(self.dtype).itemsize

    @classmethod
    def total_bytes(cls, avals: Iterable[Any]) -> int:
        """The bytes of arrays of these types."""
        return sum(cls.from_aval(a).bytes for a in avals)


@dataclass(frozen=True, kw_only=True)
class RooflineRuleContext:
    """The context of a roofline rule beside the operands' types.

    Attributes:
        name_stack: the names of scopes that the operation is in. primitive: the operation's.
        avals_in, avals_out: the types of operands and results.
        jaxpr_eqn_ctx: None. mesh: as given to :func:`roofline`.
        pin_lhs_in_vmem, pin_rhs_in_vmem: whether operands of products need not be read.
    """

    name_stack: Any
    primitive: Primitive
    avals_in: Any
    avals_out: Any
    jaxpr_eqn_ctx: Any
    mesh: Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool


class RooflineRule(Protocol):
    """The counts of one application of a primitive.

    ``rule(ctx, *shapes, **params)`` gets a :class:`RooflineRuleContext` and a
    :class:`RooflineShape` of each operand, and returns a :class:`RooflineResult`.
    """

    def __call__(
        self, ctx: RooflineRuleContext, /, *shapes: RooflineShape, **params: Any
    ) -> RooflineResult: ...


roofline_rules: RuleTable[RooflineRule] = RuleTable(
    "experimental.roofline",
    signature=RooflineRule,
    law="roofline",
    empty="it counts what experimental.cost says",
)
"""Primitives that count otherwise than ``experimental.cost`` says."""


def register_roofline(prim: Primitive) -> Callable[[RooflineRule], RooflineRule]:
    """Decorator: the rule (:class:`RooflineRule`) of a primitive; it replaces one that is there."""

    def register(rule: RooflineRule) -> RooflineRule:
        roofline_rules.set(prim, rule, override=True)
        return rule

    return register


def register_standard_roofline(prim: Primitive) -> None:
    """A primitive counts nothing."""

    def nothing(
        ctx: RooflineRuleContext, /, *shapes: RooflineShape, **params: Any
    ) -> RooflineResult:
        return RooflineResult()

    register_roofline(prim)(nothing)


def shapes_of(avals: Iterable[Any]) -> list[RooflineShape]:
    """The shapes that a rule is given; references have that of what they hold."""
    return [
        RooflineShape(shape=tuple(getattr(a, "shape", ())), dtype=getattr(a, "dtype", None))
        for a in avals
    ]


__all__ = [
    "RooflineResult", "RooflineRule", "RooflineRuleContext", "RooflineShape",
    "register_roofline", "register_standard_roofline", "roofline_rules", "shapes_of",
]  # fmt: skip
