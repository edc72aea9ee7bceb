"""``grad`` and ``value_and_grad``: values, structure, arguments, higher orders, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, value_and_grad
from dovetail_base.source import BackwardSource
from dovetail_core import ClosedJaxpr, float0
from dovetail_jit import jit, make_jaxpr


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def test_gradient_of_a_sum_of_sines() -> None:
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    np.testing.assert_allclose(grad(lambda v: total(lax.sin(v)))(x), np.cos(x), rtol=1e-6)


def test_value_comes_with_the_gradient() -> None:
    value, gradient = value_and_grad(lambda x: lax.mul(x, x))(3.0)
    assert float(value) == 9.0 and float(gradient) == 6.0


def test_gradients_have_the_structure_of_the_argument() -> None:
    params = {"w": np.float32(2.0), "b": (np.float32(1.0), None)}

    def f(p: Any) -> Any:
        return lax.add(lax.mul(p["w"], p["w"]), lax.mul(3.0, p["b"][0]))

    result = grad(f)(params)
    assert set(result) == {"w", "b"} and result["b"][1] is None
    assert float(result["w"]) == 4.0 and float(result["b"][0]) == 3.0


@pytest.mark.parametrize("argnums, expected", [(0, 3.0), (1, 2.0), (-1, 2.0), ((0, 1), (3.0, 2.0))])
def test_argnums(argnums: Any, expected: Any) -> None:
    result = grad(lax.mul, argnums)(2.0, 3.0)
    assert np.allclose(result, expected)
    assert isinstance(result, tuple) == isinstance(argnums, tuple)


def test_argnums_out_of_range_names_the_number_of_arguments() -> None:
    with pytest.raises(ValueError, match="names argument -2, but the function was called with 1"):
        grad(lax.sin, -2)(1.0)
    with pytest.raises(TypeError, match="names argument 2, but the function was called with 1"):
        grad(lax.sin, 2)(1.0)
    with pytest.raises(TypeError, match="argnums must be an integer"):
        grad(lax.sin, "x")(1.0)  # type: ignore[arg-type]


def test_aux_is_passed_through() -> None:
    def f(x: Any) -> Any:
        return lax.sin(x), {"twice": lax.mul(2.0, x)}

    gradient, aux = grad(f, has_aux=True)(1.0)
    assert np.allclose(gradient, np.cos(1.0)) and float(aux["twice"]) == 2.0
    with pytest.raises(TypeError, match="must return a pair"):
        grad(lax.sin, has_aux=True)(1.0)


def test_unused_arguments_have_zero_gradients() -> None:
    result = grad(lambda x, y: lax.sin(x), (0, 1))(1.0, np.ones(3, np.float32))
    assert result[1].shape == (3,) and not np.any(np.asarray(result[1]))


def test_integer_inputs_need_allow_int_and_give_float0() -> None:
    with pytest.raises(TypeError, match=r"has dtype int32.*allow_int=True"):
        grad(lambda i: lax.convert_element_type(i, np.float32))(1)
    result = grad(lambda i, x: lax.sin(x), 0, allow_int=True)(np.arange(3), 1.0)
    assert result.dtype == float0 and result.shape == (3,)


def test_outputs_must_be_real_scalars() -> None:
    with pytest.raises(TypeError, match=r"returned an array of type f32\[3\].*jacrev"):
        grad(lax.sin)(np.ones(3, np.float32))
    with pytest.raises(TypeError, match=r"real floating-point output.*i32"):
        grad(lambda x: 1)(1.0)
    with pytest.raises(TypeError, match="holomorphic=True for a holomorphic"):
        grad(lambda z: z)(1j)
    with pytest.raises(TypeError, match="returned PyTreeDef"):
        grad(lambda x: (x, x))(1.0)


def test_holomorphic_functions() -> None:
    z = np.complex64(0.3 + 0.4j)
    np.testing.assert_allclose(grad(lax.sin, holomorphic=True)(z), np.cos(z), rtol=1e-6)
    with pytest.raises(TypeError, match=r"takes complex inputs.*float32"):
        grad(lax.sin, holomorphic=True)(1.0)


def test_complex_gradient_is_the_conjugate_convention() -> None:
    """For a real function of z the gradient g satisfies df = Re(g dz)."""
    z, dz = np.complex64(0.7 - 0.2j), 1e-3 * np.complex64(0.6 + 0.8j)

    def f(z: Any) -> Any:
        return lax.real(lax.mul(z, lax.mul(z, z)))

    result = complex(grad(f)(z))
    assert abs((result * dz).real - float(f(z + dz) - f(z - dz)) / 2) < 1e-6


def test_higher_orders_agree_with_the_closed_form() -> None:
    f: Any = lax.sin
    signs = [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin]
    for expected in signs:
        f = grad(f)
        np.testing.assert_allclose(f(0.5), expected(0.5), rtol=1e-5)


def test_perturbations_are_not_confused() -> None:
    """d/dx (x * d/dy (x + y)) = 1 at every x."""
    result = grad(lambda x: lax.mul(x, grad(lambda y: lax.add(x, y))(1.0)))(2.0)
    assert float(result) == 1.0


def test_inner_gradient_closes_over_the_outer_value() -> None:
    result = grad(lambda x: grad(lambda y: lax.mul(lax.mul(x, x), lax.mul(y, y)))(3.0))(2.0)
    assert float(result) == 2 * 2.0 * 2 * 3.0


def test_python_control_flow_sees_primals() -> None:
    def f(x: Any) -> Any:
        return lax.mul(x, x) if x > 0 else lax.neg(x)

    assert float(grad(f)(3.0)) == 6.0 and float(grad(f)(-3.0)) == -1.0


def test_jit_inside_and_outside_agree() -> None:
    def f(x: Any) -> Any:
        return total(lax.exp(lax.sin(x)))

    x = np.linspace(0, 1, 4, dtype=np.float32)
    expected = np.cos(x) * np.exp(np.sin(x))
    for g in (grad(f), jit(grad(f)), grad(jit(f)), jit(grad(jit(f)))):
        np.testing.assert_allclose(g(x), expected, rtol=1e-5)


def test_zero_tangents_make_no_equations() -> None:
    """The derivative by x of x * y + g(y) needs nothing of g."""
    jaxpr = make_jaxpr(grad(lambda x, y: lax.add(lax.mul(x, y), lax.sin(lax.exp(y)))))(2.0, 3.0)
    names = [e.primitive.name for e in jaxpr.eqns]
    assert "cos" not in names and "broadcast_in_dim" not in names


def test_gradient_of_a_function_that_ignores_its_input_is_zero() -> None:
    assert float(grad(lambda x: np.float32(1.0))(2.0)) == 0.0


def test_what_is_not_a_function_is_refused() -> None:
    with pytest.raises(TypeError, match="grad takes a function, got 3"):
        grad(3)  # type: ignore[arg-type]


def _lines(program: ClosedJaxpr) -> set[tuple[str, int]]:
    """The primitives of a program and of all that it holds, and the lines that they are of."""
    result = {(e.primitive.name, e.source.line) for e in program.eqns if e.source is not None}
    for eqn in program.eqns:
        if eqn.primitive.regions is not None:
            for region in eqn.primitive.regions(eqn.params).regions:
                result |= _lines(region.program)
    return result


@pytest.mark.parametrize("form", ["scan", "cond", "jit"])
def test_the_backward_pass_of_what_holds_programs_is_of_their_lines(form: str) -> None:
    def body(x):
        y = lax.sin(x)
        return lax.mul(y, y)

    def f(x):
        if form == "scan":
            return lax.scan(lambda x, _: (body(x), None), x, None, length=3)[0]
        return lax.cond(lax.gt(x, 0.0), body, lambda x: x, x) if form == "cond" else jit(body)(x)

    first = body.__code__.co_firstlineno
    lines = {n for name, n in _lines(make_jaxpr(grad(f))(1.0)) if name == "mul"}
    assert lines == {first + 1, first + 2}


def test_operations_of_the_backward_pass_say_so() -> None:
    def f(x: Any) -> Any:
        return lax.mul(lax.sin(x), x)

    eqns = make_jaxpr(grad(f))(1.0).eqns
    line = f.__code__.co_firstlineno + 1
    sines = [e for e in eqns if e.primitive.name in ("sin", "cos")]
    products = [e for e in eqns if isinstance(e.source, BackwardSource)]
    assert len(sines) == 2 and products and not set(sines) & set(products)
    assert {e.source.line for e in (*sines, *products)} == {line}
