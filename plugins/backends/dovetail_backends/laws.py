"""The laws of the backends' rule tables."""

from __future__ import annotations

from typing import Any

from dovetail_core import stage_closed, typeof
from dovetail_core.testing import Sample, assert_close, law

from .reference import evaluate


def _staged(sample: Sample) -> Any:
    return stage_closed(lambda *args: sample.flat(*args), sample.avals, sample.primitive.name)


@law("lower", without=("random",))
def lower_law(sample: Sample) -> None:
    """Compiled and reference evaluation of an operation agree in type and value."""
    program = _staged(sample)
    expected = evaluate(program, *sample.args)
    for got, want, aval in zip(sample.flat(), expected, program.out_avals, strict=True):
        compiled: Any = typeof(got)
        assert compiled.shape == aval.shape and compiled.dtype == aval.dtype, "result type"  # type: ignore
        what = "compiled against reference"
        assert_close(got, want, what, factor=256, scale=sample.scale)


@law("reference", without=("random",))
def reference_law(sample: Sample) -> None:
    """The reference's results have exactly the types of the type rule."""
    program = _staged(sample)
    for got, aval in zip(evaluate(program, *sample.args), program.out_avals, strict=True):
        want: Any = aval
        assert got.shape == want.shape and got.dtype == want.dtype, (
            f"{got.dtype}{got.shape}: {want}"
        )
