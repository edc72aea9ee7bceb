"""The law of the table ``sharding.infer``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail_core import ShapedArray, ShardingTypeError
from dovetail_testing import Sample, law

from .axis_types import AxisType
from .meshes import AbstractMesh
from .shardy import NamedSharding
from .specs import PartitionSpec


def divided_types(sample: Sample) -> Iterator[tuple[int, int, int, tuple[Any, ...]]]:
    """Each operand and dimension that an axis can divide, the size of that axis, and the types of
    the operands where it does."""
    for i, aval in enumerate(sample.avals):
        if not isinstance(aval, ShapedArray):
            continue
        for d, n in enumerate(aval.shape):
            size = next((k for k in (2, 3, 5, 7) if aval.size and n % k == 0), 0)
            if size:
                mesh = AbstractMesh((size,), ("i",), AxisType.Explicit)
                spec = PartitionSpec(*[None] * d, "i")
                divided = aval.update(sharding=NamedSharding(mesh, spec))
                yield i, d, size, (*sample.avals[:i], divided, *sample.avals[i + 1 :])


@law("infer", applies=lambda s: s.primitive.regions is None and bool(s.args), mixed=False)
def infer_law(sample: Sample) -> None:
    """Results are of the types that they have where nothing is divided, but for how they are; or
    it is ambiguous, and the error names the operation."""
    plain = sample.infer().avals
    for i, d, _, avals in divided_types(sample):
        try:
            result = sample.infer(avals).avals
        except ShardingTypeError as e:
            name = sample.primitive.title(dict(sample.params))
            assert name in str(e), f"operand {i}, dimension {d}: {e}"
            continue
        for got, want in zip(result, plain, strict=True):
            assert got.without_sharding() == want, (
                f"operand {i}, dimension {d}: the type {got.str_short()}, without axes it is "
                f"{want.str_short()}"
            )
