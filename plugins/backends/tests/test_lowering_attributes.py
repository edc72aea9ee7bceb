"""Attributes that rules make are what MLIR reads as such, and what is ambiguous is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_backends as b
from dovetail_backends.pjrt import attributes
from dovetail_core import ShapedArray
from dovetail_xla import mlir
from dovetail_xla.loading import load


def parsed(text: str) -> Any:
    ir = load("mlir.ir")
    with mlir.context():
        return ir.Attribute.parse(text)


def attributes_of(text: str) -> dict[str, Any]:
    """The attributes of an operation that has them."""
    ir = load("mlir.ir")
    with mlir.context():
        context = mlir.context()
        context.allow_unregistered_dialects = True
        try:
            made = ir.Module.parse(f'"acme.op"() {{{text}}} : () -> ()').body.operations[0]
            return {name: str(made.attributes[name]) for name in made.attributes}
        finally:
            context.allow_unregistered_dialects = False


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (b.i64(-3), -3),
        (b.i32(7), 7),
        (b.boolean(True), True),
        (b.integer(5, "int8"), 5),
        (b.floating(0.1), np.float32(0.1)),
        (b.floating(1e-300, np.float64), 1e-300),
        (b.floating(-0.0), -0.0),
        (b.string('say "so"\\ \n é'), 'say "so"\\ \n é'),
    ],
    ids=str,
)
def test_scalars_come_out_as_they_went_in(made: str, value: Any) -> None:
    result = parsed(made).value
    assert result == value
    assert not isinstance(value, float) or np.signbit(result) == np.signbit(value)


@pytest.mark.parametrize("values", [[], [3], [0, -1, 2]])
def test_arrays_of_integers(values: list[int]) -> None:
    assert list(parsed(b.i64_array(values))) == values
    assert np.array_equal(np.array(parsed(b.i64_dense(values))), values)


@pytest.mark.parametrize("values", [[], [True], [False, True]])
def test_arrays_of_booleans(values: list[bool]) -> None:
    assert list(parsed(b.bool_array(values))) == values


@pytest.mark.parametrize(
    "value",
    [
        np.float32(3),
        np.array([[1, 2], [3, 4]], np.int8),
        np.array([0.5, -0.0, np.inf]),
        np.array([[True, False, True]]),
        np.zeros((0, 2), np.float32),
        np.uint64(2**63),
    ],
    ids=str,
)
def test_dense_arrays_are_the_same_to_the_bit(value: Any) -> None:
    result = np.array(parsed(b.dense_array(value)))
    assert result.shape == np.shape(value) and result.tobytes() == np.asarray(value).tobytes()


def test_dense_arrays_of_types_that_numpy_or_the_bindings_lack() -> None:
    text = b.dense_array(np.array([1, 2], ml_dtypes.bfloat16))
    assert str(parsed(text)) == "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>"
    text = b.dense_array(np.array([1 + 2j, 3j], np.complex64))
    constant = f'"stablehlo.constant"() <{{value = {text}}}> : () -> tensor<2xcomplex<f32>>'
    shown = mlir.pretty(f"module {{ {constant} }}")
    assert "dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,3.000000e+00)]>" in shown


@pytest.mark.parametrize(
    "made",
    [
        b.enum("comparison_direction", "LT"),
        b.enum("precision", "HIGHEST"),
        b.record("channel_handle", {"handle": 1, "type": 0}),
        b.record("dot", {"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": (0,)}),
        b.convolution(["b", "f", 0], ["o", "i", 0], ["b", "f", 0]),
        b.sequence([b.i32(1), "x", True]),
        b.dictionary({"a": b.i64(1), "b": False, "c": "d"}),
        b.symbol("fn"),
        b.layouts([[0, 1], [1, 0]]),
        b.type_attribute(ShapedArray((2, 3), "float32")),
    ],
    ids=str,
)
def test_what_has_parts_is_spelt_as_mlir_prints_it(made: str) -> None:
    words = str(parsed(made))
    assert sorted(words.replace("i64", "").split()) == sorted(made.replace("i64", "").split())


def test_names_and_values_of_a_dictionary() -> None:
    text = attributes.spelled({"plain": True, "mhlo.dotted": "s", "odd name": b.i32(2)})
    assert attributes_of(text) == {"plain": "true", "mhlo.dotted": '"s"', "odd name": "2 : i32"}


@pytest.mark.parametrize("value", [3, 2.5, [0, 1], None, np.zeros(2)], ids=repr)
def test_what_has_several_spellings_is_refused(value: Any) -> None:
    said = (
        r"attribute 'dimension' is .*, of type \w+, which can be spelt in several ways\. Say "
        r"which: i64\(\.\.\.\), floating\(\.\.\.\), i64_array"
    )
    with pytest.raises(TypeError, match=said):
        attributes.spelled({"dimension": value})
    with pytest.raises(TypeError, match="an element of a sequence is"):
        b.sequence([value])


def test_an_unknown_type() -> None:
    with pytest.raises(TypeError, match="StableHLO has no element type for dtype datetime64"):
        b.integer(3, "datetime64[s]")
