"""The current trace, tracers converted to Python values, tracers that outlive their trace."""

from __future__ import annotations

import copy
import operator
import pickle
import re
import threading
from collections.abc import Hashable

import numpy as np
import pytest

from dovetail_core import (
    EVAL,
    ConcretizationTypeError,
    ShapedArray,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    get_trace,
    run_under,
    stage_closed,
    typeof,
)
from dovetail_core.dispatch.primitive import Trace
from dovetail_core.dispatch.tracer import Tracer
from dovetail_testing.toy import add_p, less_p, sin_p

F32 = ShapedArray((), np.float32)


def test_at_rest_the_current_trace_evaluates():
    assert get_trace() is EVAL
    assert sin_p.bind(np.float32(0)) == 0


def test_the_current_trace_is_restored_after_an_error():
    def f(x):
        raise KeyError

    with pytest.raises(KeyError):
        stage_closed(f, [F32])
    assert get_trace() is EVAL


def test_run_under_makes_a_trace_current_and_restores():
    class Counting(Trace):
        __slots__ = ("seen",)

        def process(self, primitive, args, params):
            self.seen = (primitive, args, params)
            return self.parent.process(primitive, args, params)

    trace = Counting(EVAL)
    assert run_under(trace, lambda x, y=0: add_p.bind(x, y), 1.0, y=2.0) == 3.0
    assert trace.seen == (add_p, (1.0, 2.0), {}) and get_trace() is EVAL


def test_each_thread_has_its_own_current_trace():
    seen = []

    def f(x):
        thread = threading.Thread(target=lambda: seen.append(get_trace()))
        thread.start()
        thread.join()
        return [x]

    stage_closed(f, [F32])
    assert seen == [EVAL]


def test_a_trace_must_say_how_it_processes():
    with pytest.raises(NotImplementedError):
        Trace(None).process(sin_p, (), {})


def test_tracers_have_the_attributes_of_their_type():
    def f(x):
        assert (x.shape, x.dtype, x.ndim, x.size, x.weak_type) == ((2, 3), np.int32, 2, 6, False)
        assert typeof(x) is x.aval and x._is_traced_array()
        assert repr(x) == "Traced<i32[2,3]> under the trace of 'f'"
        return [x]

    stage_closed(f, [ShapedArray((2, 3), np.int32)], "f")


CONVERSIONS = {
    "bool": (bool, TracerBoolConversionError, "used as a Python condition", "lax.cond"),
    "not": (operator.not_, TracerBoolConversionError, "used as a Python condition", "lax.while"),
    "int": (int, ConcretizationTypeError, "converted to a Python number", "astype"),
    "float": (float, ConcretizationTypeError, "converted to a Python number", "astype"),
    "complex": (complex, ConcretizationTypeError, "converted to a Python number", "outside"),
    "index": (
        operator.index,
        TracerIntegerConversionError,
        "used as a Python integer",
        "fori_loop",
    ),
    "range": (range, TracerIntegerConversionError, "used as a Python integer", "static_argnums"),
    "numpy": (np.asarray, TracerArrayConversionError, "to a NumPy array", "pure_callback"),
    "ufunc": (np.sin, TracerArrayConversionError, "to a NumPy array", "dovetail.numpy"),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_an_error_for_a_conversion_names_type_places_and_remedy(name):
    convert, error, use, remedy = CONVERSIONS[name]

    def f(x):
        y = less_p.bind(x, 1.0)
        convert(y)
        return [y]

    with pytest.raises(error) as e:
        stage_closed(f, [F32], "f")
    text = str(e.value)
    assert isinstance(e.value, (TypeError, ConcretizationTypeError))
    assert re.match(
        rf"a value of type bool\[\] that is being traced by the trace of 'f' is .*{use}", text
    )
    first = f.__code__.co_firstlineno
    assert (
        f"test_trace.py:{first + 2} ({f.__qualname__}), but it is not known while tracing" in text
    )
    assert f"(it was made at {__file__}:{first + 1} ({f.__qualname__}))" in text
    assert remedy in text


def test_an_input_has_no_place_where_it_was_made():
    with pytest.raises(TracerBoolConversionError) as e:
        stage_closed(lambda x: [x and 1.0], [F32])
    assert "it was made" not in str(e.value)


def test_tracers_are_not_hashable():
    with pytest.raises(TypeError, match=r"unhashable type: '.*Tracer'"):
        stage_closed(lambda x: [{x: 1}], [F32])
    assert not issubclass(Tracer, Hashable)


def test_a_tracer_whose_value_is_known_converts():
    class Known(Tracer):
        __slots__ = ("known",)

        def __init__(self, known):
            self._trace, self.aval, self.known = EVAL, typeof(known), known

        def concrete(self):
            return self.known

    assert bool(Known(np.bool_(True))) and int(Known(np.int32(3))) == 3
    assert operator.index(Known(np.int32(3))) == 3
    assert float(Known(np.float32(0.5))) == 0.5 and complex(Known(np.complex64(1j))) == 1j
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        operator.index(Known(np.float32(0.5)))


@pytest.fixture
def leaked():
    kept = []

    def f(x):
        kept.append(sin_p.bind(x))
        return [x]

    stage_closed(f, [F32], "f")
    return kept[0], f.__code__.co_firstlineno + 1


def test_an_error_for_a_tracer_that_left_its_trace_names_both_places(leaked):
    tracer, made = leaked
    with pytest.raises(UnexpectedTracerError) as e:
        stage_closed(lambda x: [add_p.bind(x, tracer)], [F32])
    text = str(e.value)
    assert text.startswith(
        "a value of type f32[] left the trace of 'f', which is over, and is used at "
    )
    assert f"(it was made at {__file__}:{made} (leaked.<locals>.f)). Return it from the" in text
    assert "instead of storing it in a global, an attribute or a closure." in text


def test_a_leaked_tracer_that_is_returned_or_converted_is_an_error(leaked):
    tracer, _ = leaked
    for use in (
        lambda: stage_closed(lambda: [tracer], []),
        lambda: bool(tracer),
        lambda: np.sin(tracer),
    ):
        with pytest.raises(UnexpectedTracerError, match="left the trace of 'f', which is over"):
            use()


def test_tracers_are_copied_and_not_pickled():
    def f(x):
        assert copy.copy(x) is x and copy.deepcopy([x]) == [x]
        return [x]

    stage_closed(f, [F32])
    with pytest.raises(ConcretizationTypeError, match="is pickled"):
        stage_closed(lambda x: pickle.dumps(x), [F32])


@pytest.mark.parametrize("shape", [(2,), (0,)])
def test_traced_arrays_of_many_elements_are_no_conditions(shape):
    with pytest.raises(ValueError, match=f"it has {shape[0]} elements"):
        stage_closed(lambda x: bool(x), [ShapedArray(shape, "float32")])


def test_evaluating_with_a_leaked_tracer_is_an_error(leaked):
    with pytest.raises(UnexpectedTracerError, match="left the trace of 'f', which is over"):
        sin_p.bind(leaked[0])
