"""The table ``sharding.infer``: how results of operations are divided, from how operands are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from dovetail_core import RuleTable, ShardingTypeError, here

from ..meshes import AbstractMesh
from ..named import tiles
from ..specs import PartitionSpec, axes_of

Parts = tuple[Any, ...]
"""For each dimension None, the name of an axis, or names of several (see ``PartitionSpec``)."""


class Application(NamedTuple):
    """An operation on operands of which at least one is divided.

    Attributes:
        name: what errors call it. mesh: the mesh of whose axes types tell.
        ins: the types of its operands. outs: those of its results, which say nothing of this yet.
        many: whether the primitive has multiple results.
    """

    name: str
    mesh: AbstractMesh
    ins: Sequence[Any]
    outs: Sequence[Any]
    many: bool

    def parts(self, operand: int) -> Parts:
        """How an operand is divided, dimension by dimension."""
        aval = self.ins[operand]
        ndim = len(getattr(aval, "shape", ()))
        return (None,) * ndim if aval.divided is None else aval.divided.spec.partitions

    def reduced(self, operand: int) -> frozenset[Any]:
        """The axes along which an operand is reduced: its cotangent is a sum that is left there."""
        aval = self.ins[operand]
        return frozenset() if aval.divided is None else aval.divided.spec.reduced

    @property
    def all_parts(self) -> list[Parts]:
        """:meth:`parts` of all operands."""
        return [self.parts(i) for i in range(len(self.ins))]

    def count(self, partition: Any) -> int:
        """Into how many parts a dimension is divided."""
        return tiles(self.mesh, PartitionSpec(partition), 1)[0]

    def fits(self, size: int, partition: Any) -> bool:
        """Whether a dimension of that size can be divided so."""
        return size % self.count(partition) == 0

    def merged(self, what: str, partitions: Sequence[Any]) -> Any:
        """The partition that the others agree on: those that are None do not count.

        Raises:
            ShardingTypeError: two differ; ``what`` names the dimension.
        """
        result: Any = None
        for p in partitions:
            if p is not None and result is not None and p != result:
                self.refuse(f"{what} is divided in different ways, along {result!r} and {p!r}")
            result = p if result is None else result
        return result

    def refuse(
        self, why: str, remedy: str = "", along: Sequence[Any] = (), parts: Parts = ()
    ) -> NoReturn:
        """Raise ShardingTypeError: names the operation, the types of operands and what to do.

        Args:
            along: the axes over which a result is summed, so that it could be left unreduced.
            parts: how the result is divided then.
        """
        types = ", ".join(a.str_short() for a in self.ins)
        remedy = remedy or "Move operands first: dovetail.sharding.reshard(x, spec)."
        error = ShardingTypeError(f"{self.name} of {types}{here()}: {why}. {remedy}")
        error.along, error.parts = frozenset(along), tuple(parts)
        raise error


class InferRule(Protocol):
    """How the results of one operation are divided.

    ``rule(app, **params)`` returns for each dimension of the result what divides it (see
    ``Parts``), or a list of such tuples where the primitive has multiple results. It calls
    ``app.refuse`` where that is ambiguous. It is asked only where an operand is divided.
    """

    def __call__(self, app: Application, /, **params: Any) -> Any: ...


infer_rules: RuleTable[Any] = RuleTable(
    "sharding.infer",
    signature=InferRule,
    law="infer",
    empty="its sub-programs say it; where there are none, operands must not be divided",
)


def ask_for_out_sharding(what: str) -> str:
    """The remedy of errors where a function takes ``out_sharding``."""
    return f"Say how the result is to be divided: {what}."


def without(parts: Parts, dims: Sequence[int]) -> Parts:
    """What is left where dimensions go away."""
    return tuple([p for i, p in enumerate(parts) if i not in dims])


def named_in(parts: Parts) -> list[Any]:
    """All axes that are named."""
    return [a for p in parts for a in axes_of(p)]
