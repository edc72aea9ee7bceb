"""``jvp``, ``vjp``, ``linearize``, ``linear_transpose``, Jacobians and Hessians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from dovetail_core import MissingRule, UnexpectedTracerError, enable_x64, float0
from dovetail_custom_rules import custom_jvp
from dovetail_jit import jit
from dovetail_tree.util import tree_leaves
from dovetail_xla.arrays import Array

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
T = np.asarray([1.0, -2.0, 0.5, 3.0], np.float32)


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def test_jvp_gives_value_and_tangent() -> None:
    y, t = jvp(lax.sin, (X,), (T,))
    np.testing.assert_allclose(y, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(t, np.cos(X) * T, rtol=1e-6)


def test_jvp_of_trees_and_aux() -> None:
    def f(p: Any, x: Any) -> Any:
        return {"y": lax.mul(p["a"], x)}, lax.neg(x)

    y, t, aux = jvp(f, ({"a": X}, X), ({"a": T}, X), has_aux=True)
    np.testing.assert_allclose(t["y"], T * X + X * X, rtol=1e-6)
    np.testing.assert_allclose(aux, -X)
    assert set(y) == {"y"}


def test_integer_inputs_take_float0_tangents() -> None:
    i = np.arange(4)
    zero = np.zeros(4, float0)
    _, t = jvp(lambda x, n: lax.mul(x, x), (X, i), (T, zero))
    np.testing.assert_allclose(t, 2 * X * T, rtol=1e-6)
    _, t = jvp(lambda n: n, (i,), (zero,))
    assert t.dtype == float0


def test_jvp_errors_name_the_leaf() -> None:
    with pytest.raises(ValueError, match=r"at \[0\]\['a'\] has type f32\[2\].*type f32\[4\]"):
        jvp(lambda p: p["a"], ({"a": X},), ({"a": X[:2]},))
    with pytest.raises(TypeError, match="as tuples or lists of arguments"):
        jvp(lax.sin, X, T)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="different structures"):
        jvp(lax.sin, (X,), (T, T))


def test_vjp_pulls_cotangents_back() -> None:
    y, pull = vjp(lambda a, b: lax.mul(lax.sin(a), b), X, T)
    np.testing.assert_allclose(y, np.sin(X) * T, rtol=1e-6)
    da, db = pull(X)
    np.testing.assert_allclose(da, np.cos(X) * T * X, rtol=1e-5)
    np.testing.assert_allclose(db, np.sin(X) * X, rtol=1e-6)
    again = pull(X)
    np.testing.assert_array_equal(da, again[0])


def test_vjp_with_aux_and_errors() -> None:
    _, pull, aux = vjp(lambda a: (lax.sin(a), "kept" and lax.neg(a)), X, has_aux=True)
    np.testing.assert_allclose(aux, -X)
    with pytest.raises(
        ValueError, match=r"cotangent number 0 has type f32\[2\], expected f32\[4\]"
    ):
        pull(X[:2])
    with pytest.raises(ValueError, match="of the structure of its output"):
        pull((X, X))


def test_linearized_and_pulled_functions_are_pytrees_that_cross_jit() -> None:
    y, push = jit(lambda x: linearize(lax.sin, x))(X)
    np.testing.assert_allclose(push(T), np.cos(X) * T, rtol=1e-6)
    np.testing.assert_allclose(jit(lambda f, t: f(t))(push, T), np.cos(X) * T, rtol=1e-6)
    _, pull = jit(lambda x: vjp(lax.sin, x))(X)
    np.testing.assert_allclose(pull(T)[0], np.cos(X) * T, rtol=1e-6)
    assert tree_leaves(pull)
    np.testing.assert_allclose(y, np.sin(X), rtol=1e-6)


def test_linearize_errors() -> None:
    _, push = linearize(lax.sin, X)
    with pytest.raises(ValueError, match=r"tangent number 0 has type f32\[2\]"):
        push(T[:2])
    with pytest.raises(TypeError, match="takes tangents of the structure"):
        push(T, T)


def test_linear_transpose_of_linear_and_other_functions() -> None:
    back = linear_transpose(lambda x: lax.mul(3.0, lax.neg(x)), X)
    np.testing.assert_allclose(back(T)[0], -3 * T)
    with pytest.raises(MissingRule, match=r"'sin'.*is not linear"):
        linear_transpose(lax.sin, X)(T)
    for nonlinear in (
        lambda x: lax.mul(x, x),
        lambda x: lax.div(1.0, x),
        lambda x: lax.broadcast(lax.dot(x, x), (4,)),
        lambda x: lax.select(lax.gt(x, 0.0), x, lax.neg(x)),
    ):
        with pytest.raises(MissingRule, match=r"is not linear"):
            linear_transpose(nonlinear, X)(T)


N = np.arange(4, dtype=np.int32)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64])
@pytest.mark.parametrize("compiled", [False, True])
def test_linear_functions_of_integers_are_transposed(dtype: Any, compiled: bool) -> None:
    matrix = np.arange(8, dtype=dtype).reshape(2, 4)

    def f(x: Any, y: Any) -> Any:
        row = lax.sub(lax.dot(matrix, x), lax.slice(y, (0,), (2,)))
        last = lax.scan(lambda c, v: (lax.add(c, v), c), dtype(0), lax.rev(x, (0,)))[0]
        return {"row": row, "last": lax.cond(True, lax.neg, lambda v: v, last)}

    with enable_x64(dtype is np.int64):
        x = np.arange(4, dtype=dtype)
        given = {"row": np.array([3, 1], dtype), "last": dtype(2)}
        of_x, of_y = linear_transpose(jit(f) if compiled else f, x, x)(given)
        assert of_x.dtype == of_y.dtype == dtype
        np.testing.assert_array_equal(of_x, matrix.T @ given["row"] - given["last"])
        np.testing.assert_array_equal(of_y, np.concatenate([-given["row"], np.zeros(2, dtype)]))
        (nothing,) = linear_transpose(lambda v: N, x)(N)
        assert nothing.dtype == dtype and not nothing.any()


def test_functions_from_one_kind_of_numbers_to_another_are_not_transposed() -> None:
    said = "takes functions of floating-point or complex numbers to such, or of integers to integ"
    for f, x, ct in (
        (lambda n: lax.convert_element_type(n, np.float32), N, X),
        (lambda x: lax.convert_element_type(x, np.int32), X, N),
    ):
        with pytest.raises(TypeError, match=rf"{said}.* types \w+\[4\] and results of types \w+\["):
            linear_transpose(f, x)(ct)
    with pytest.raises(
        TypeError, match=rf"{said}ers, got arguments of types f32\[4\], i32\[4\] at"
    ):
        linear_transpose(lax.add, X, N)
    with pytest.raises(TypeError, match=said):
        linear_transpose(lambda b: b, np.array([True]))


def matrix(x: Any) -> Any:
    """R4 -> R2."""
    return lax.concatenate(
        [lax.reshape(total(lax.sin(x)), (1,)), lax.reshape(total(lax.mul(x, x)), (1,))], 0
    )


def test_jacobians_agree_with_the_closed_form() -> None:
    expected = np.stack([np.cos(X), 2 * X])
    for jac in (jacfwd, jacrev):
        np.testing.assert_allclose(jac(matrix)(X), expected, rtol=1e-5)
        np.testing.assert_allclose(jit(jac(matrix))(X), expected, rtol=1e-5)


def test_jacobians_of_trees() -> None:
    def f(p: Any) -> Any:
        return {"y": lax.mul(p["a"], total(p["b"])), "z": total(p["a"])}

    p = {"a": X, "b": np.ones((2, 3), np.float32)}
    for jac in (jacfwd, jacrev):
        result = jac(f)(p)
        assert result["y"]["b"].shape == (4, 2, 3) and result["z"]["a"].shape == (4,)
        np.testing.assert_allclose(result["y"]["a"], np.eye(4) * 6)
        np.testing.assert_allclose(result["y"]["b"], np.broadcast_to(X[:, None, None], (4, 2, 3)))


def test_jacobians_with_aux_and_argnums() -> None:
    def f(a: Any, b: Any) -> Any:
        return lax.mul(a, b), lax.neg(a)

    for jac in (jacfwd, jacrev):
        (da, db), aux = jac(f, (0, 1), has_aux=True)(X, T)
        np.testing.assert_allclose(da, np.diag(T))
        np.testing.assert_allclose(db, np.diag(X))
        np.testing.assert_allclose(aux, -X)


def test_hessian_in_every_mode() -> None:
    def f(x: Any) -> Any:
        return total(lax.mul(lax.sin(x), lax.mul(x, x)))

    expected = np.diag(2 * np.sin(X) + 4 * X * np.cos(X) - X**2 * np.sin(X))
    for h in (hessian(f), jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f))):
        np.testing.assert_allclose(h(X), expected, rtol=2e-5, atol=1e-5)


def test_jvp_of_vjp() -> None:
    def gradient(x: Any) -> Any:
        return vjp(lambda v: total(lax.exp(v)), x)[1](np.float32(1))[0]

    _, t = jvp(gradient, (X,), (T,))
    np.testing.assert_allclose(t, np.exp(X) * T, rtol=1e-5)


def test_leaked_tracers_are_named() -> None:
    leaked: list[Any] = []

    def f(x: Any) -> Any:
        leaked.append(lax.mul(x, 2.0))
        return x

    jvp(f, (X,), (T,))
    with pytest.raises(
        UnexpectedTracerError, match=r"type f32\[4\] left differentiation.*Return it"
    ):
        lax.sin(leaked[0])


def test_auxiliary_results_may_be_anything() -> None:
    def f(a: Any) -> Any:
        return lax.sin(a), {"name": "sine", "twice": lax.mul(a, a), "none": None, "of": object}

    result = [vjp(f, X, has_aux=True)[2], linearize(f, X, has_aux=True)[2]]
    for aux in [*result, jvp(f, (X,), (T,), has_aux=True)[2]]:
        assert (aux["name"], aux["none"], aux["of"]) == ("sine", None, object)
        np.testing.assert_allclose(aux["twice"], X * X)


def test_a_function_without_arguments_is_linearized() -> None:
    value, push = linearize(lambda: 3.0)
    assert (float(value), float(push())) == (3.0, 0.0)


def test_derivatives_at_python_scalars_are_weakly_typed_as_those_are() -> None:
    for result in (vjp(lax.sin, 1.0)[1](2.0)[0], linearize(lax.sin, 1.0)[1](2.0)):
        assert result.weak_type
        np.testing.assert_allclose(result, 2.0 * np.cos(1.0), rtol=1e-6)
    assert linear_transpose(lax.neg, 1.0)(2.0)[0].weak_type
    assert not vjp(lax.sin, X)[1](T)[0].weak_type


INNER = {
    "product": lambda x, u: lax.mul(x, u),
    "matrix": lambda x, u: lax.dot(lax.broadcast(u, (4,)), x),
    "jit": lambda x, u: jit(lambda a: lax.mul(a, u))(x),
    "scan": lambda x, u: lax.scan(lambda c, a: (lax.add(c, a), lax.mul(c, u[0])), x[0], x)[1],
    "cond": lambda x, u: lax.cond(True, lambda a: lax.mul(a, u), lax.neg, x),
}


@pytest.mark.parametrize("inner", list(INNER.values()), ids=list(INNER))
def test_a_linear_function_may_hold_a_vjp_whose_residuals_are_unknown(inner: Any) -> None:
    """What is unknown to the outer transposition is known to the inner one."""

    def f(u: Any) -> Any:
        return vjp(lambda x: inner(x, u), X)[1](T)[0]

    matrix = np.stack([f(e) for e in np.eye(4, dtype=np.float32)], 1)
    (result,) = linear_transpose(f, X)(T)
    np.testing.assert_allclose(result, matrix.T @ T, rtol=1e-5)


def test_a_while_loop_that_the_unknown_ends_is_not_linear() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda c: lax.lt(total(c), np.float32(3)), lambda c: c + c, x)

    message = r"while_loop at .* is not linear: its predicate depends on a value in which"
    with pytest.raises(MissingRule, match=message):
        linear_transpose(f, X)(T)


DECIDED = {
    "while_loop": lambda x: lax.while_loop(
        lambda c: lax.lt(total(c), np.float32(3)), lambda c: c + c, x
    ),
    "cond": lambda x: lax.cond(lax.lt(total(x), np.float32(3)), lambda c: c + c, lambda c: c, x),
    "switch": lambda x: lax.switch(
        lax.convert_element_type(total(x), np.int32), [lambda c: c, lambda c: c + c], x
    ),
}


@pytest.mark.parametrize("f", list(DECIDED.values()), ids=list(DECIDED))
def test_what_a_tangent_decides_is_evaluated_but_not_transposed(f: Any) -> None:
    """By a rule that is not linear: the linear function is what the rule says, once it runs."""

    @custom_jvp
    def g(x: Any) -> Any:
        return x

    g.defjvp(lambda primals, tangents: (primals[0], f(tangents[0])))
    for t in (T, 9 * T):
        want = jvp(g, (X,), (t,))[1]
        np.testing.assert_array_equal(linearize(g, X)[1](t), want)
        np.testing.assert_array_equal(linearize(jit(g), X)[1](t), want)
    with pytest.raises(MissingRule, match="is not linear: its predicate depends on a value in wh"):
        vjp(g, X)[1](T)
    with pytest.raises(MissingRule, match="is not linear: its predicate depends on a value in wh"):
        linear_transpose(f, X)(T)


def test_the_transpose_of_a_linear_function_may_leave_a_jitted_function() -> None:
    back = jit(lambda x: linear_transpose(lambda y: lax.mul(3.0, y), x))(X)
    np.testing.assert_allclose(back(T)[0], 3 * T)


def test_jacobians_of_the_identity_are_arrays_of_devices() -> None:
    for jac in (jacrev, jacfwd):
        result = jac(lambda x: x)(np.ones(2, np.float32))
        assert isinstance(result, Array) and np.array_equal(result, np.eye(2))
