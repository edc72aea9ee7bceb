"""Evaluation by the reference backend, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_backends import reference_rules
from dovetail_backends.testing import evaluated_by_reference
from dovetail_batching import vmap
from dovetail_callbacks import io_callback
from dovetail_core import Manifest, ShapedArray, UnexpectedTracerError, def_impl, enable_x64, typeof
from dovetail_core.dispatch.primitive import EVAL, Primitive
from dovetail_custom_rules import custom, custom_jvp
from dovetail_jit import jit
from dovetail_testing.fresh import with_plugins
from dovetail_xla.arrays import ArrayImpl


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A sine that says that it was computed by NumPy."""
    assert all(reference_rules[p] for p in (lax.sin_p, lax.cond_p))  # which loads both
    monkeypatch.setitem(reference_rules.rules, lax.sin_p, lambda x, **_: np.full_like(x, 7.0))


def test_operations_are_those_of_the_table(marked: Any) -> None:
    x = np.float32(1)
    with evaluated_by_reference(True):
        assert float(lax.sin(x)) == 7
        assert float(grad(lax.cos)(x)) == -7
        assert np.asarray(vmap(lax.sin)(np.ones(2, np.float32))).tolist() == [7, 7]
        assert float(lax.cond(True, lax.sin, lax.cos, x)) == 7
        assert float(jit(lax.sin)(x)) != 7  # what is compiled is compiled
    with evaluated_by_reference(False):
        assert float(lax.sin(x)) != 7
    assert float(lax.sin(x)) != 7


def test_where_everything_is_tested_operations_are_compiled(
    marked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value, compiled in (("1", True), ("0", False)):
        monkeypatch.setenv("DOVETAIL_TEST_FULL", value)
        with evaluated_by_reference():
            assert (float(lax.sin(np.float32(1))) != 7) is compiled


def test_results_have_the_types_of_evaluation() -> None:
    with evaluated_by_reference(True):
        assert isinstance(lax.add(1.0, np.float32(2)), ArrayImpl)
        assert typeof(lax.sin(1.0)) is ShapedArray((), np.dtype(np.float32), weak_type=True)
        values, places = lax.top_k(np.arange(4.0, dtype=np.float32), 2)
        assert (values.dtype, places.dtype) == (np.float32, np.int32)
        with enable_x64(True):
            assert lax.sin(1.0).dtype == np.float64


def test_effects_happen_and_the_unknown_is_evaluated_as_ever() -> None:
    seen: list[float] = []
    mine = Primitive("testing.mine", anonymous=True)
    mine.def_abstract_eval(lambda x: x)
    def_impl(mine)(lambda x: x)
    with evaluated_by_reference(True):
        io_callback(lambda x: seen.append(float(x)), None, np.float32(3))
        assert mine.bind(np.float32(4)) == 4
    assert seen == [3]


def test_rules_of_evaluation_and_functions_without_types_keep_theirs() -> None:
    @custom
    def f(x: Any) -> Any:
        return lax.mul(x, x)

    f.def_rule("eval", lambda x, program: [np.float32(42)])
    own = Primitive("testing.own", anonymous=True)
    own.def_abstract_eval(lambda x: x)
    own.def_decomposition(lax.sin)
    def_impl(own)(lambda x: np.float32(43))
    pushed = custom_jvp(lambda x: lax.mul(x, x))
    pushed.defjvp(lambda primals, tangents: (pushed(*primals), tangents[0]))
    with evaluated_by_reference(True):
        assert (float(f(1.0)), float(own.bind(np.float32(1)))) == (42, 43)
        assert float(grad(pushed)(np.float32(3))) == 1


def test_values_that_are_traced_elsewhere_are_refused_as_ever() -> None:
    kept: list[Any] = []
    jit(kept.append)(1.0)
    with evaluated_by_reference(True), pytest.raises(UnexpectedTracerError, match="trace"):
        lax.sin(kept[0])


def test_evaluation_is_put_back_also_after_an_exception() -> None:
    rules, miss = EVAL.rules, EVAL.miss
    with pytest.raises(TypeError, match="sin"), evaluated_by_reference(True):
        lax.sin("x")
    assert EVAL.rules is rules and EVAL.miss == miss


def test_operations_are_compiled_where_somebody_has_passes() -> None:
    own = EVAL.rules
    installed = with_plugins(Manifest("acme", passes={"acme": "acme_passes:PASS"}))
    with installed, evaluated_by_reference(True):
        assert EVAL.rules is own
    with evaluated_by_reference(True):
        assert EVAL.rules is not own
    assert EVAL.rules is own
