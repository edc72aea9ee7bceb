"""Programs evaluated with NumPy: the oracle, and a backend that is not PJRT."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dovetail_backends import Array, evaluate, reference_rules
from dovetail_backends.reference import REFERENCE
from dovetail_core import MissingRule, Primitive, ShapedArray, enable_x64, float0, stage_closed

F32 = np.dtype(np.float32)

scale_p = Primitive("test.reference.scale")
pair_p = Primitive("test.reference.pair", multiple_results=True)
wrong_p = Primitive("test.reference.wrong")
twice_p = Primitive("test.reference.twice")
swapped_p = Primitive("test.reference.swapped", multiple_results=True)
bare_p = Primitive("test.reference.bare")

for _p in (scale_p, wrong_p, twice_p, bare_p):
    _p.def_abstract_eval(lambda x, **params: x)


@reference_rules.register(scale_p)
def _scale(x, *, by=2.0):
    return (x * by).astype(x.dtype)


@pair_p.def_abstract_eval
def _pair_types(x):
    return [x, ShapedArray((), np.int32)]


@reference_rules.register(pair_p)
def _pair(x):
    return [1 / x, np.int32(x.size)]


@reference_rules.register(wrong_p)
def _wrong(x, *, give):
    return give(x)


traces = []


@twice_p.def_decomposition
def _twice(x, *, options=()):
    traces.append(x.aval)
    return scale_p.bind(scale_p.bind(x, by=1.0), by=2.0)


@swapped_p.def_abstract_eval
def _swapped_types(x):
    return _pair_types(x)[::-1]


@swapped_p.def_decomposition
def _swapped(x):
    return pair_p.bind(x)[::-1]


def program(f, *types):
    return stage_closed(f, [ShapedArray(shape, dtype) for shape, dtype in types], "f")


def test_programs():
    closed = program(
        lambda x, y: [*pair_p.bind(scale_p.bind(x)), y, 3.0, x], ((2,), F32), ((), F32)
    )
    half, size, y, three, x = evaluate(closed, np.array([1, 2], F32), 7.0)
    assert half.tolist() == [0.5, 0.25] and half.dtype == F32
    assert size == 2 and size.dtype == np.int32
    assert (y, three) == (7, 3) and y.dtype == three.dtype == F32
    assert x.tolist() == [1, 2]


def test_constants():
    constant = np.array([5, 6], F32)
    assert evaluate(program(lambda: [scale_p.bind(constant)]))[0].tolist() == [10, 12]


def test_arguments_are_converted():
    closed = program(lambda x: [x], ((2,), ml_dtypes.bfloat16))
    assert evaluate(closed, np.array([1.0, 2.0]))[0].dtype == ml_dtypes.bfloat16
    (nothing,) = evaluate(program(lambda x: [x], ((3,), float0)), np.zeros(3, float0))
    assert nothing.dtype == float0 and nothing.shape == (3,)


def test_infinities_are_results(recwarn):
    (result, _) = evaluate(program(lambda x: pair_p.bind(x), ((2,), F32)), np.array([0, 1], F32))
    assert result.tolist() == [np.inf, 1] and not recwarn


def test_wrong_arguments():
    closed = program(lambda x: [x], ((2,), F32))
    with pytest.raises(TypeError, match="takes 1 inputs, 2 given"):
        evaluate(closed, 1, 2)
    with pytest.raises(
        TypeError, match=r"input 0 .* type f32\[2\], a value of shape \(3,\) is given"
    ):
        evaluate(closed, np.ones(3))


@pytest.mark.parametrize(
    ("give", "got"),
    [
        (lambda x: x.astype(np.float64), r"float64\[2\]"),
        (lambda x: x[:1], r"float32\[1\]"),
        (lambda x: 2.0, "float"),
        (lambda x: None, r"object\[\]"),
    ],
)
def test_rules_must_return_exact_types(give, got):
    closed = program(lambda x: [wrong_p.bind(x, give=give)], ((2,), F32))
    text = (
        r"the rule of 'test\.reference\.wrong' in table 'backends\.reference' \(.*\), used at "
        rf".*test_reference\.py.*, returned {got} as result 0, where the type is f32\[2\]"
    )
    with pytest.raises(TypeError, match=text):
        evaluate(closed, np.ones(2))


def test_number_of_results():
    broken = Primitive("test.reference.broken", multiple_results=True)
    broken.def_abstract_eval(lambda x: [x, x])
    reference_rules.register(broken)(lambda x: [x])
    with pytest.raises(TypeError, match="returned 1 results, not 2"):
        evaluate(program(lambda x: broken.bind(x), ((), F32)), 1.0)


def test_missing_rule_names_the_place():
    closed = program(lambda x: [bare_p.bind(x)], ((), F32))
    with pytest.raises(
        MissingRule, match=r"no rule for primitive 'test\.reference\.bare' at .*test_"
    ):
        evaluate(closed, 1.0)


def test_decomposition():
    closed = program(lambda x: [twice_p.bind(x)], ((2,), F32))
    traces.clear()
    for _ in range(3):
        assert evaluate(closed, np.ones(2))[0].tolist() == [2, 2]
    assert traces == [ShapedArray((2,), F32)]  # traced once for one type
    wide = program(lambda x: [twice_p.bind(x, options=[1])], ((), F32))
    assert evaluate(wide, 1.0) == [2] and evaluate(wide, 1.0) == [2]
    assert len(traces) == 3  # unhashable parameters: traced each time
    size, half = evaluate(program(lambda x: swapped_p.bind(x), ((2,), F32)), np.full(2, 4.0))
    assert size == 2 and half.tolist() == [0.25, 0.25]


def test_wide_types():
    with enable_x64(True):
        closed = program(lambda x: [twice_p.bind(x)], ((), np.float64))
        assert evaluate(closed, 1 / 3)[0] == 2 / 3


def test_backend():
    closed = program(lambda x: pair_p.bind(x), ((2,), F32))
    half, size = REFERENCE.run(closed, [np.full(2, 4.0)])
    assert isinstance(half, Array) and half.tolist() == [0.25, 0.25] and half.dtype == F32
    assert size.item() == 2 and size.device in REFERENCE.local_devices()
    assert REFERENCE.problem() == "" and REFERENCE.priority < 0
