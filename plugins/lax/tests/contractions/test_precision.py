"""Named algorithms of contractions, and the option that is the default precision."""

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_jit import jit, make_jaxpr
from dovetail_lax.functions.precision import default_matmul_precision

HIGHEST = (lax.Precision.HIGHEST, lax.Precision.HIGHEST)
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
ON_CPU = ["DEFAULT", "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6",
          "F32_F32_F32", "F64_F64_F64"]  # fmt: skip


def precisions(f, *args):
    return [e.params["precision"] for e in make_jaxpr(f)(*args).eqns if "precision" in e.params]


PRODUCTS = {
    "matmul": lambda x, y: dnp.matmul(x, y.T),
    "operator": lambda x, y: x @ y.T,
    "einsum": lambda x, y: dnp.einsum("ij,kj->ik", x, y),
    "dot": lambda x, y: lax.dot(x, y.T),
    "conv": lambda x, y: lax.conv(x[None, None], y[None, None], (1, 1), "SAME"),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_option_is_the_default(name):
    f = PRODUCTS[name]
    assert set(precisions(f, X, X)) == {None}
    with default_matmul_precision("highest"):
        assert set(precisions(f, X, X)) == {HIGHEST}
        if name != "conv":
            assert set(precisions(grad(lambda x: f(x, X).sum()), X)) == {HIGHEST}
    assert set(precisions(f, X, X)) == {None}


def test_what_is_given_wins_over_the_option():
    with default_matmul_precision("highest"):
        result = precisions(lambda x: lax.dot(x, x.T, precision="default"), X)
    assert result == [(lax.Precision.DEFAULT, lax.Precision.DEFAULT)]


def test_compiled_functions_are_traced_anew():
    seen = []

    @jit
    def f(x):
        seen.append(default_matmul_precision.value)
        return x @ x.T

    f(X)
    with default_matmul_precision("float32"):
        f(X)
        f(X)
    f(X)
    assert seen == [None, "float32"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ON_CPU)
def test_named_algorithms(name, dtype):
    x = dnp.asarray(X, dtype)
    preset = lax.DotAlgorithmPreset[name]
    result = lax.dot(x, x.T, precision=preset)
    assert result.dtype == x.dtype
    np.testing.assert_allclose(np.asarray(result, float), X @ X.T, rtol=2e-2, atol=2e-2)
    np.testing.assert_array_equal(lax.dot(x, x.T, precision=name), result)
    slope = grad(lambda x: lax.dot(x, x.T, precision=preset).astype("float32").sum())(x)
    np.testing.assert_allclose(np.asarray(slope, float), [2 * X.sum(0)] * 3, rtol=5e-2, atol=5e-2)


def test_the_algorithm_is_in_the_program():
    text = jit(lambda x: lax.dot(x, x.T, precision="BF16_BF16_F32_X3")).lower(X).as_text()
    assert "lhs_precision_type = bf16" in text
    assert "accumulation_type = f32" in text
    assert "num_primitive_operations = 3" in text


def test_what_cannot_be_had():
    with pytest.raises(NotImplementedError, match=r"the CPU does not offer TF32_TF32_F32"):
        lax.dot(X, X.T, precision="TF32_TF32_F32")
    with pytest.raises(TypeError, match=r"it multiplies 8-bit floats. Convert the operands"):
        lax.dot(X, X.T, precision=lax.DotAlgorithmPreset.ANY_F8_ANY_F8_F32)
    with pytest.raises(ValueError, match="convolutions have no algorithms to choose from"):
        lax.conv(X[None, None], X[None, None], (1, 1), "SAME", precision="F32_F32_F32")
    with pytest.raises(
        ValueError, match=r"'hi' is no precision: expected None, a Precision or its"
    ):
        default_matmul_precision("hi")
    with default_matmul_precision("F32_F32_F32"):  # for products alone
        assert precisions(PRODUCTS["conv"], X, X) == [None]
