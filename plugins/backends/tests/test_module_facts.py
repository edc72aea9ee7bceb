"""Facts of modules: as they are recorded while one is written, and as MLIR reads them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_backends import LoweredModule, lower_module
from dovetail_backends.pjrt.facts import ArrayType, Kind, facts_of_text
from dovetail_base.options import enable_x64
from dovetail_core import MissingRule, lower_to_lo
from dovetail_core.dispatch.primitive import Primitive
from dovetail_jit import jit
from dovetail_lax import concatenate, dot_general, pad, reduce_window, while_loop
from dovetail_testing import Sample, all_samples
from dovetail_testing.kernel_laws import staged
from dovetail_testing.samples import is_wide

X = np.ones((2, 3), np.float32)
MATRIX, SCALAR = ArrayType((2, 3), "f32"), ArrayType((), "f32")


def module(f: Any, *args: Any) -> LoweredModule:
    return jit(f).lower(*args)._module


def of(name: str, f: Any, *args: Any) -> dict[Kind, int]:
    """The kinds of operations of a name in a function's module."""
    return dict(module(f, *args).facts().of(f"stablehlo.{name}"))


def test_kinds_are_counted() -> None:
    result = module(lambda x: dnp.sin(x) + dnp.sin(x * 2), X).facts()
    assert result.kinds[Kind("stablehlo.sine", (MATRIX,), (MATRIX,))] == 2
    assert result.counts["stablehlo.sine"] == 2 and result.counts["func.return"] == 1
    assert result.results == (MATRIX,) and result.types == {MATRIX, SCALAR}
    assert result.largest == 6 and result.dialects == {"stablehlo", "func"}
    assert {"sine", "multiply", "add"} <= result.computations


def test_attributes_that_count() -> None:
    (kind,) = of("reduce", lambda x: x.sum(1), X)
    assert kind.attribute == (1,) and kind.operands == (MATRIX, SCALAR)
    (kind,) = of("pad", lambda x: pad(x, 0.0, ((0, 0, 0), (1, 2, 3))), X)
    assert kind.attribute == (0, 3)
    pads = ((0, 0), (0, 0))
    windows = lambda x: reduce_window(  # noqa: E731
        x, 0.0, dnp.add, (1, 2), (1, 1), pads, base_dilation=(1, 2)
    )
    (kind,) = of("reduce_window", windows, X)
    assert kind.attribute == (1, 2)
    numbers = (((1,), (1,)), ((0,), (0,)))
    (kind,) = of("dot_general", lambda x: dot_general(x, x, numbers), X)
    assert dict(kind.attribute) == {
        "lhs_batching_dimensions": (0,),
        "rhs_batching_dimensions": (0,),
        "lhs_contracting_dimensions": (1,),
        "rhs_contracting_dimensions": (1,),
    }
    filled = of("constant", lambda x: x.astype(np.int32) + np.full((2, 3), 7, np.int32), X)
    assert [kind.attribute for kind in filled] == [7]


def test_regions_and_functions_count_once() -> None:
    inner = jit(lambda x: dnp.tanh(x))

    def f(x: Any) -> Any:
        x = while_loop(lambda x: x.sum() < 3, lambda x: dnp.cos(x), x)
        return inner(inner(x))

    result = module(f, X).facts()
    assert result.counts["stablehlo.cosine"] == result.counts["stablehlo.tanh"] == 1
    assert result.counts["func.call"] == 2


def test_uses_of_what_was_joined() -> None:
    joined = module(lambda x: dnp.tanh(concatenate([x, x], 0)) + 1, X).facts()
    assert joined.uses == {"stablehlo.concatenate": {"stablehlo.tanh"}}
    assert module(dnp.tanh, X).facts().uses == {}


def _samples() -> Iterator[Sample]:
    """Two of each primitive."""
    count: dict[Primitive, int] = {}
    for _, sample in all_samples():
        count[sample.primitive] = count.get(sample.primitive, 0) + 1
        if count[sample.primitive] <= 2:
            yield sample


def _lowered(sample: Sample) -> LoweredModule | None:
    with enable_x64(is_wide(sample)):
        try:
            return lower_module(lower_to_lo(staged(sample)), "cpu", "f")
        except (MissingRule, NotImplementedError, ValueError):  # the matrix says what is missing
            return None


def test_recorded_facts_are_those_that_mlir_reads() -> None:
    compared = 0
    for sample in _samples():
        lowered = _lowered(sample)
        if lowered is not None and lowered.record is not None:
            assert lowered.facts() == facts_of_text(lowered.text), sample
            compared += 1
    assert compared > 300


def test_facts_of_modules_that_were_changed() -> None:
    written = module(dnp.sin, X)
    changed = LoweredModule(
        **{**vars(written), "text": written.text.replace("stablehlo.sine", "stablehlo.cosine")}
    )
    assert changed.facts().counts["stablehlo.cosine"] == 1
    assert written.facts().counts["stablehlo.sine"] == 1


def test_facts_of_readable_text() -> None:
    lowered = jit(lambda x: dnp.tanh(x.sum(1))).lower(X)
    assert facts_of_text(lowered.as_text()) == lowered._module.facts()


@pytest.mark.parametrize(
    "text", ["no module", "module {}", 'module { "func.func"() : () -> () }'], ids=str
)
def test_nothing_is_known_of_what_is_not_valid(text: str) -> None:
    assert facts_of_text(text) is None


def test_types_that_are_no_arrays_of_known_shape() -> None:
    result = facts_of_text(
        "module { func.func @main(%t: !stablehlo.token, %x: tensor<?xf32>) -> tensor<?xf32> "
        "{ return %x : tensor<?xf32> } }"
    )
    assert result is not None
    assert result.types == {ArrayType((), "!stablehlo.token"), ArrayType((), "tensor<?xf32>")}


def test_what_facts_are_made_of_is_kept_until_a_program_is_compiled() -> None:
    lowered = jit(dnp.sin).lower(X)
    assert lowered._module.record is not None
    executable = lowered.compile()._executable
    assert executable.module.record is None
    assert executable.module == lowered._module
    assert executable.module.facts() == lowered._module.facts()


def test_pickled_modules_have_no_record() -> None:
    lowered = module(dnp.sin, X)
    again = pickle.loads(pickle.dumps(lowered.__class__(**{**vars(lowered), "kept": (True,)})))
    assert again.record is None and again.text == lowered.text
