"""Functions whose sums over devices are left unreduced."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from dovetail_core import (
    EVAL,
    ShardingTypeError,
    Trace,
    get_trace,
    run_under,
    type_shardings,
    typeof,
)
from dovetail_jit import jit

from ..shardy import NamedSharding
from ..specs import PartitionSpec, axes_of
from .resharding import left_unreduced, mesh_of


class LeavingTrace(Trace):
    """A trace that passes operations on, and leaves sums over some axes of a mesh unreduced."""

    __slots__ = ("axes",)
    parent: Trace
    what = "a function whose sum over devices is left to be done"

    def __init__(self, axes: Set[Any]) -> None:
        super().__init__(get_trace())
        self.axes = axes

    def process(self, primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The operation's results, unreduced if it is a sum over the axes by its types."""
        types = tuple([typeof(x) for x in args])
        parts = self._summed(primitive, types, params) if self.axes <= named_in(types) else None
        if parts is None:
            return self.parent.process(primitive, args, params)
        spec = PartitionSpec(*parts, unreduced=frozenset(self.axes))
        sharding = NamedSharding(mesh_of(args), spec)

        def summed(*xs: Any) -> Any:
            return left_unreduced(
                primitive.bind(*type_shardings.without_shardings(xs), **params), sharding
            )

        # At rest as one program: what it leaves must not be computed before.
        run = jit(summed) if self.parent is EVAL else summed
        return run_under(self.parent, run, *args)

    def _summed(self, primitive: Any, types: tuple[Any, ...], params: Any) -> Sequence[Any] | None:
        """The partitions of the result of an operation that is a sum over these axes; else None.

        An operation is such a sum if its rule refuses it because of the sum, or if it is linear in
        its operand, which is divided along these axes while the result is not.
        """
        try:
            outs = primitive.infer(types, params).avals
        except ShardingTypeError as e:
            return e.parts if self.axes <= e.along else None
        traits = primitive.traits
        is_linear = len(types) == 1 and traits.groups(1, params) and not traits.divides
        if not is_linear or self.axes & named_in(outs):
            return None
        sharding = outs[0].divided
        return () if sharding is None else sharding.spec.partitions


def leaving(axes: Set[Any], f: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    """``f(*args, **kwargs)`` with sums over devices along ``axes`` left unreduced.

    Raises:
        ShardingTypeError: it is ambiguous for another reason.
    """
    return run_under(LeavingTrace(axes), f, *args, **kwargs)


def named_in(avals: Sequence[Any]) -> frozenset[Any]:
    """The axes along which the shardings of types divide values."""
    specs = [d.spec for d in (getattr(a, "divided", None) for a in avals) if d is not None]
    return frozenset([a for s in specs for p in s.partitions for a in axes_of(p)])
