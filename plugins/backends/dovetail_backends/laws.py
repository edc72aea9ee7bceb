"""The laws of the backends' rule tables."""

from __future__ import annotations

from typing import Any

from dovetail_core import lower_to_lo, lower_values, typeof
from dovetail_testing import Sample, assert_close, assert_same_bits, law
from dovetail_testing.kernel_laws import arrays_of, assert_untouched, contents, staged

from .exact import evaluate_exactly, is_exact
from .reference import evaluate


def _evaluated(sample: Sample) -> tuple[Any, list[Any]]:
    """The program, without high types, and its results by the reference."""
    program, before = lower_to_lo(staged(sample)), contents(sample)
    args = lower_values(sample.args, "asked for by a law of the backends")
    result = evaluate(program, *args)
    assert_untouched(sample, before)
    return program, result


@law("lower", without=("random",), mixed=False)
def lower_law(sample: Sample) -> None:
    """Compiled and reference evaluation of an operation agree in type and value."""
    program, expected = _evaluated(sample)
    result = arrays_of(sample.flat())
    exact = is_exact(program) and evaluate_exactly(program, arrays_of(sample.args)) is not None
    for got, want, aval in zip(result, expected, program.out_avals, strict=True):
        compiled: Any = typeof(got)
        assert compiled.shape == aval.shape and compiled.dtype == aval.dtype, "result type"  # type: ignore
        what = "compiled against reference"
        if exact:
            assert_same_bits(got, want, what)
        assert_close(got, want, what, factor=256, scale=sample.scale)


@law("reference", without=("random",), mixed=False)
def reference_law(sample: Sample) -> None:
    """The reference's results have the types of the type rule; operands stay as they are."""
    program, result = _evaluated(sample)
    for got, aval in zip(result, program.out_avals, strict=True):
        want: Any = aval
        assert got.shape == want.shape and got.dtype == want.dtype, (
            f"{got.dtype}{got.shape}: {want}"
        )
