"""What differentiation refuses and what it says; constants and integers as users see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from dovetail_batching import vmap
from dovetail_core import (
    ConcretizationTypeError,
    MissingRule,
    Primitive,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    float0,
)
from dovetail_jit import jit

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
HERE = r"at .*test_bad_input\.py"


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def square(x: Any) -> Any:
    return lax.mul(x, x)


# --- arguments that are no arrays -----------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["text", object(), {1}, np.array(["a"])])
def test_inputs_that_are_no_arrays_are_named(wrong: Any) -> None:
    tree = {"a": [1.0, wrong]}
    cases = {
        r"grad: the input at \[0\]\['a'\]\[1\]": lambda: grad(lambda p: p["a"][0])(tree),
        r"jacfwd: the input at \[0\]\['a'\]\[1\]": lambda: jacfwd(lambda p: p["a"][0])(tree),
        r"jacrev: the input at \[0\]\['a'\]\[1\]": lambda: jacrev(lambda p: p["a"][0])(tree),
        r"vjp of square: the input at \[0\]\['a'\]\[1\]": lambda: vjp(square, tree),
        r"linearize of square: the input at \[0\]\['a'\]": lambda: linearize(square, tree),
        r"jvp: primals: the input at \[0\]\['a'\]\[1\]": lambda: jvp(square, (tree,), (tree,)),
        r"jvp: tangents: the input at \[0\]": lambda: jvp(square, (1.0,), (wrong,)),
    }
    for said, call in cases.items():
        with pytest.raises(TypeError, match=rf"{said}.*is not a valid array value"):
            call()


def test_what_is_not_differentiated_may_be_anything() -> None:
    f = lambda x, mode: square(x) if mode == "square" else x  # noqa: E731
    assert float(grad(f)(3.0, "square")) == 6.0
    assert float(grad(f)(3.0, mode="other")) == 1.0


def test_results_that_are_no_arrays_are_named() -> None:
    for call in (
        lambda: jvp(lambda x: "text", (1.0,), (1.0,)),
        lambda: vjp(lambda x: "text", 1.0),
        lambda: linearize(lambda x: "text", 1.0),
        lambda: jacrev(lambda x: "text")(1.0),
    ):
        with pytest.raises(TypeError, match=r"<lambda> returned a value that cannot be differ"):
            call()
    with pytest.raises(TypeError, match=r"return a scalar, but <lambda> returned PyTreeDef"):
        grad(lambda x: None)(1.0)


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacfwd, jacrev, hessian])
def test_functions_are_functions(transform: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{transform.__name__} takes a function, got 3 of type"):
        transform(3)


def test_arguments_of_jvp_are_in_tuples() -> None:
    for args in ((1.0, 1.0), ((1.0,), 1.0), (1.0, (1.0,))):
        with pytest.raises(TypeError, match=r"as tuples or lists of arguments, got .* write jvp\("):
            jvp(square, *args)


def test_auxiliary_results_need_a_pair() -> None:
    def alone(x: Any) -> Any:
        return square(x)

    for call in (
        lambda: grad(alone, has_aux=True)(1.0),
        lambda: value_and_grad(lambda x: (x, x, x), has_aux=True)(1.0),
        lambda: jvp(alone, (1.0,), (1.0,), has_aux=True),
        lambda: vjp(alone, 1.0, has_aux=True),
        lambda: linearize(alone, 1.0, has_aux=True),
        lambda: jacfwd(alone, has_aux=True)(1.0),
        lambda: jacrev(alone, has_aux=True)(1.0),
        lambda: hessian(alone, has_aux=True)(1.0),
    ):
        with pytest.raises(TypeError, match=r"has_aux=True \S+ must return a pair \(value, aux\)"):
            call()


# --- which arguments ------------------------------------------------------------------------------


def test_argnums_are_checked() -> None:
    for transform in (grad, jacfwd, jacrev):
        with pytest.raises(ValueError, match=r"argnums=\(0, -2\) names an argument twice"):
            transform(lax.mul, (0, -2))(2.0, 3.0)
        of_class = TypeError if transform is grad else ValueError
        with pytest.raises(of_class, match=r"called with 0 positional .*must be passed by posit"):
            transform(lambda *, x: x)(x=1.0)
        with pytest.raises(TypeError, match=r"argnums must be an integer or a sequence of them"):
            transform(lax.sin, 0.0)(1.0)
    assert grad(lambda x: x, ())(1.0) == ()


# --- tangents and cotangents ----------------------------------------------------------------------


def test_tangents_of_other_types_are_named() -> None:
    half = X.astype(np.float16)
    with pytest.raises(
        TypeError, match=r"jvp: the tangent at \[0\] has type f16\[4\], but its pri"
    ):
        jvp(lax.sin, (X,), (half,))
    with pytest.raises(TypeError, match=r"primal of type i32\[\]~ takes tangents of type float0"):
        jvp(lambda n: n, (1,), (1.0,))
    with pytest.raises(TypeError, match=r"different structures: at \[0\]: a leaf .* against None"):
        jvp(lax.sin, (1.0,), (None,))
    with pytest.raises(
        ValueError, match=r"vjp of sin: the cotangent number 0 has type f16\[4\], exp"
    ):
        vjp(lax.sin, X)[1](half)
    with pytest.raises(
        ValueError, match=r"the linearized function: the tangent number 0 has type f1"
    ):
        linearize(lax.sin, X)[1](half)
    with pytest.raises(TypeError, match=r"linear_transpose: the cotangent number 0 has type f16"):
        linear_transpose(lax.neg, X)(half)
    with pytest.raises(TypeError, match=r"transpose of neg takes a cotangent of the structure"):
        linear_transpose(lax.neg, X)((X, X))


def test_integer_results_have_float0_cotangents() -> None:
    _, pull = vjp(lambda x: (square(x), 1), X)
    np.testing.assert_allclose(pull((X, np.zeros((), float0)))[0], 2 * X * X, rtol=1e-6)
    for given in (1, np.float32(2)):  # only the shape is looked at
        np.testing.assert_allclose(pull((X, given))[0], 2 * X * X, rtol=1e-6)
    with pytest.raises(ValueError, match=r"cotangent number 1 has type i32\[1\], expected float0"):
        pull((X, np.ones(1, np.int32)))


# --- integers and complex numbers -----------------------------------------------------------------


def test_jacobians_of_integer_results_and_arguments() -> None:
    def f(x: Any) -> Any:
        return x, lax.convert_element_type(x, np.int32)

    dense, zero = jacfwd(f)(X)
    np.testing.assert_array_equal(dense, np.eye(4))
    assert zero.dtype == np.int32 and zero.shape == (4, 4) and not np.any(np.asarray(zero))
    with pytest.raises(TypeError, match=r"jacrev takes functions with real outputs, got dtype int"):
        jacrev(f)(X)
    result = jacrev(lambda x, n: square(x), 1, allow_int=True)(X, np.arange(3, dtype=np.int32))
    assert result.dtype == np.int32 and result.shape == (4, 3) and not np.any(np.asarray(result))


def test_mapped_gradients_of_integers_are_float0() -> None:
    result = vmap(grad(lambda n, x: square(x), (0, 1), allow_int=True))(np.arange(4), X)
    assert result[0].dtype == float0 and result[0].shape == (4,)
    np.testing.assert_allclose(result[1], 2 * X)


def test_complex_jacobians_must_be_asked_for() -> None:
    z = np.complex64(0.3 + 0.4j)
    for jac in (jacfwd, jacrev):
        np.testing.assert_allclose(jac(lax.sin, holomorphic=True)(z), np.cos(z), rtol=1e-6)
        takes_real = "takes real inputs, but the input at \\[0\\] has dtype c"
        with pytest.raises(TypeError, match=f"{takes_real}|takes functions with real outputs"):
            jac(lax.sin)(z)
        with pytest.raises(
            TypeError, match=r"holomorphic=True takes complex inputs, but .* float32"
        ):
            jac(lax.sin, holomorphic=True)(1.0)
    with pytest.raises(
        TypeError, match=r"jacrev takes functions with real outputs, got dtype comp"
    ):
        jacrev(lambda x: lax.complex(x, x))(X)
    with pytest.raises(
        TypeError, match=r"with complex outputs, got dtype float32.*must be complex"
    ):
        jacrev(lax.real, holomorphic=True)(z)


# --- what users see -------------------------------------------------------------------------------


def test_constant_gradients_are_arrays_weakly_typed_as_their_argument() -> None:
    for x, weak in ((1.0, True), (np.float32(1), False)):
        for f, scale in ((lambda x: x, 1.0), (lambda x: 2.0, 0.0), (lax.neg, -1.0)):
            for g in (grad(f)(x), value_and_grad(f)(x)[1], jit(grad(f))(x)):
                assert g.weak_type == weak and g.dtype == np.float32
                assert float(g.block_until_ready()) == scale
    z = grad(lambda z: z, holomorphic=True)(1j)
    assert z.dtype == np.complex64 and z.weak_type and complex(z) == 1


# --- tracers in the wrong place -------------------------------------------------------------------


def test_tracers_converted_to_python_or_numpy_values() -> None:
    """Under grad Python sees primals; under jit of it nothing is known."""
    assert float(grad(lambda x: x if x > 0 else lax.neg(x))(2.0)) == 1.0
    known = rf"differentiation.* is converted to a NumPy array {HERE}.*Use the function of dovetail"
    with pytest.raises(TracerArrayConversionError, match=known):
        grad(lambda x: np.sin(x))(1.0)
    cases: dict[type, Any] = {
        TracerBoolConversionError: lambda x: x if x > 0 else lax.neg(x),
        ConcretizationTypeError: lambda x: lax.mul(x, float(x)),
        TracerIntegerConversionError: lambda x: lax.mul(
            x, [1.0, 2.0][lax.convert_element_type(x, int)]
        ),
    }
    for error, f in cases.items():
        with pytest.raises(error, match=rf"used as|converted to.*{HERE}"):
            jit(grad(f))(1.0)


def test_a_python_number_does_not_silently_lose_its_derivative() -> None:
    said = rf"differentiation.* is converted to a Python number {HERE}.*would be lost.*item\(\)"
    for f in (lambda x: lax.mul(x, float(x)), lambda x: complex(x).real * x):
        with pytest.raises(ConcretizationTypeError, match=said):
            grad(f)(2.0)
    assert float(grad(lambda x: lax.mul(x, float(int(x))))(2.0)) == 2.0
    assert float(grad(lambda x: x.item() * x)(2.0)) == 2.0


def test_leaked_tracers_are_named_wherever_they_are_used() -> None:
    leaked: list[Any] = []

    def keep(x: Any) -> Any:
        leaked[:] = [x]
        return total(square(x))

    said = rf"type f32\[4\] left differentiation .*, which is over, and is used {HERE}.*Return it"
    for transform in (grad(keep), lambda x: vjp(keep, x), lambda x: jvp(keep, (x,), (x,))):
        transform(X)
        for use in (
            lambda x: lax.sin(x),
            lambda x: jit(lambda: lax.sin(x))(),
            lambda x: jit(lax.sin)(x),
            lambda x: vmap(lax.sin)(x),
            lambda x: grad(lambda y: total(lax.mul(y, x)))(X),
            np.asarray,
        ):
            with pytest.raises(UnexpectedTracerError, match=said):
                use(leaked[0])


# --- the user's line ------------------------------------------------------------------------------


def half(x: Any) -> Any:
    return lax.convert_element_type(x, np.int32)


PLACES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "not a scalar": (
        lambda: grad(square)(X), TypeError,
        rf"but square returned an array of type f32\[4\] {HERE}.*Reduce it .*jacrev or jacfwd",
    ),
    "two": (lambda: grad(lambda x: (x, x))(1.0), TypeError, rf"returned PyTree.*{HERE}.*has_aux"),
    "integer input": (
        lambda: grad(square)({"n": 3}["n"]), TypeError,
        rf"the input at \[0\] has dtype int32 {HERE}.*Convert it .*argnums.*allow_int=True",
    ),
    "integer output": (
        lambda: grad(half)(1.0), TypeError, rf"half returned i32\[\]~? {HERE}.*Convert the output"
    ),
    "complex output": (
        lambda: grad(square)(1j), TypeError, rf"square returned c64\[\]~ {HERE}.*holomorphic=True"
    ),
    "argnums": (
        lambda: grad(square, 2)(1.0), TypeError,
        rf"names argument 2, .* 1 positional argument {HERE}",
    ),
    "no function": (lambda: grad(3), TypeError, rf"takes a function, got 3 of type int {HERE}"),
    "aux": (
        lambda: grad(square, has_aux=True)(1.0), TypeError, rf"square must return a pair .*{HERE}"
    ),
    "tangent": (
        lambda: jvp(square, (X,), (X[:2],)), ValueError,
        rf"the tangent at \[0\] has type f32\[2\], .* f32\[4\] {HERE}.*Convert it",
    ),
    "cotangent": (
        lambda: vjp(square, X)[1](X[:2]), ValueError,
        rf"vjp of square: the cotangent number 0 has type f32\[2\], expected f32\[4\] {HERE}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
def test_the_users_line_is_named(case: str) -> None:
    call, error, said = PLACES[case]
    with pytest.raises(error, match=said):
        call()


def test_a_missing_rule_below_a_derived_one_names_both_primitives() -> None:
    """In a decomposition, in a sub-program, and in a transposition."""
    inner = Primitive("test.inner", anonymous=True)
    inner.def_abstract_eval(lambda x: x)
    outer = Primitive("test.outer", anonymous=True)
    outer.def_abstract_eval(lambda x: x)
    outer.def_decomposition(lambda x: inner.bind(x))
    said = rf"table 'ad\.jvp' has no rule for primitive 'test\.inner' {HERE}.*"
    for f in (grad(outer.bind), jit(grad(outer.bind))):
        with pytest.raises(MissingRule, match=rf"{said}Used by the decomposition of 'test\.outer'"):
            f(1.0)
    with pytest.raises(MissingRule, match=rf"{said}'test\.outer'\. In a sub-program of 'scan'"):
        grad(lambda x: lax.scan(lambda c, _: (outer.bind(c), None), x, None, length=2)[0])(1.0)
    with pytest.raises(MissingRule, match=r"'batching\.batch' has no rule .*'test\.inner'.*outer'"):
        vmap(outer.bind)(X)
    with pytest.raises(MissingRule, match=r"'ad\.transpose' has no rule .*'test\.inner'.*outer'"):
        linear_transpose(outer.bind, X)(X)


def test_loops_without_an_end_are_value_errors_too() -> None:
    loop = lambda x: lax.while_loop(lambda y: y < 3.0, lambda y: y * 2.0, x)  # noqa: E731
    for error in (ValueError, NotImplementedError):
        with pytest.raises(error, match="cannot be differentiated in reverse mode"):
            grad(loop)(1.0)


def test_the_vjp_function_takes_one_cotangent() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        vjp(lax.sin, 1.0)[1](1.0, 2.0)


def test_reverse_jacobians_of_real_functions_take_complex_inputs() -> None:
    z = np.array([0.3 + 0.4j, 1j], np.complex64)
    result = jacrev(lambda z: lax.abs(z))(z)
    np.testing.assert_allclose(result, np.diag(np.conj(z) / np.abs(z)), rtol=1e-6)


def test_jacobians_name_arguments_by_numbers_in_range():
    for jac in (jacfwd, jacrev):
        with pytest.raises(ValueError, match="argnums=3 names argument 3"):
            jac(lambda x, y: x * y, argnums=3)(1.0, 2.0)


def test_holomorphic_jacobians_have_complex_outputs():
    with pytest.raises(TypeError, match="jacfwd takes functions with complex outputs, got"):
        jacfwd(lambda x: x.real, holomorphic=True)(3j)


def test_jvp_takes_tangents_in_the_container_of_the_primals():
    with pytest.raises(TypeError, match="got a tuple and a list"):
        jvp(lambda x: x, (1.0,), [1.0])


def test_an_auxiliary_result_may_stand_in_a_list():
    assert grad(lambda x: [x * x, "aux"], has_aux=True)(3.0) == (6.0, "aux")
