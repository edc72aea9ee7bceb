"""``check_grads``, ``check_jvp`` and ``check_vjp``: what they accept, catch and say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import jvp, jvp_rules, transpose_rules, vjp
from dovetail_ad.test_util import check_grads, check_jvp, check_vjp
from dovetail_core import Primitive, enable_x64, float0

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def smooth(x: Any) -> Any:
    return lax.sin(lax.exp(x))


def with_rule(tangent: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """The sine, with a rule for its tangent of our own."""
    p = Primitive("acme.sine", anonymous=True)
    p.def_abstract_eval(lambda x: x)
    p.def_decomposition(lax.sin)
    jvp_rules.set(p, lambda primals, tangents: (p.bind(*primals), tangent(primals[0], tangents[0])))
    return p.bind


@pytest.mark.parametrize("modes", [("fwd",), ["rev"], "fwd", ("fwd", "rev")])
def test_right_derivatives_pass_to_third_order(modes: Any) -> None:
    check_grads(smooth, (X,), 3, modes)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float32, np.complex64])
def test_every_precision_has_a_tolerance(dtype: Any) -> None:
    check_grads(smooth, (X.astype(dtype),), 1)


def test_double_precision_is_checked_to_many_digits() -> None:
    with enable_x64(True):
        check_grads(smooth, (X.astype(np.float64),), 2, atol=1e-9, rtol=1e-9)


def test_trees_python_scalars_and_integers() -> None:
    def f(p: Any, n: Any, x: Any) -> Any:
        return {"y": lax.mul(p["z"], lax.exp(p["z"])), "n": (n, None), "x": lax.integer_pow(x, 3)}

    check_grads(f, ({"z": np.complex64(0.3 + 0.4j)}, 3, 0.5), 2)


def test_functions_between_real_and_complex_numbers() -> None:
    check_grads(lambda z: lax.mul(lax.real(z), lax.abs(z)), (np.complex64(0.3 + 0.4j),), 2)
    check_grads(lambda x: lax.exp(lax.complex(x, lax.neg(x))), (X,), 2)


def test_a_wrong_tangent_is_caught_in_both_modes() -> None:
    wrong = with_rule(lambda x, t: lax.mul(t, lax.mul(1.01, lax.cos(x))))
    with pytest.raises(AssertionError, match="forward derivative of bind: the tangent is wrong"):
        check_grads(wrong, (X,), 1, "fwd")
    said = r"reverse derivative of bind: the cotangents are wrong: <vjp\(ct\), t> = .*finite diff"
    with pytest.raises(AssertionError, match=said):
        check_grads(wrong, (X,), 1, "rev")


def test_a_second_derivative_that_is_wrong_is_caught_at_second_order_only() -> None:
    frozen = with_rule(lambda x, t: lax.mul(t, lax.cos(lax.stop_gradient(x))))
    check_grads(frozen, (X,), 1)
    with pytest.raises(AssertionError, match="derivative of the forward derivative of bind"):
        check_grads(frozen, (X,), 2, "fwd")
    with pytest.raises(AssertionError, match="derivative of the reverse derivative of bind"):
        check_grads(frozen, (X,), 2, "rev")


def test_a_wrong_transpose_is_caught_in_reverse_mode_only() -> None:
    half = Primitive("acme.half", anonymous=True)
    half.def_abstract_eval(lambda x: x)
    half.def_decomposition(lambda x: lax.mul(x, 0.5))
    jvp_rules.set(half, lambda primals, tangents: (half.bind(*primals), half.bind(*tangents)))
    transpose_rules.set(half, lambda ct, x: [ct])
    check_grads(half.bind, (X,), 1, "fwd")
    with pytest.raises(AssertionError, match="the cotangents are wrong"):
        check_grads(half.bind, (X,), 1, "rev")


def test_check_jvp_compares_values_tangents_and_structures() -> None:
    def off(primals: Any, tangents: Any) -> Any:
        y, t = jvp(tree, primals, tangents)
        return {"a": (lax.add(y["a"][0], 1.0),)}, t

    def tree(x: Any) -> Any:
        return {"a": (smooth(x),)}

    check_jvp(tree, partial(jvp, tree), (X,))
    with pytest.raises(
        AssertionError, match=r"check_jvp of tree: the value at \['a'\]\[0\] is wrong"
    ):
        check_jvp(tree, off, (X,))
    with pytest.raises(AssertionError, match="mine: the tangent has another structure"):
        check_jvp(tree, lambda x, t: (tree(*x), t[0]), (X,), err_msg="mine")
    with pytest.raises(AssertionError, match="it must be of dtype float0"):
        check_jvp(lambda n: n, lambda n, t: (n[0], n[0]), (3,))


def test_check_vjp_compares_values_and_structures() -> None:
    check_vjp(smooth, partial(vjp, smooth), (X,))
    with pytest.raises(AssertionError, match="check_vjp of smooth: the value is wrong"):
        check_vjp(smooth, lambda x: (X, vjp(smooth, x)[1]), (X,))
    with pytest.raises(AssertionError, match="cotangents have another structure"):
        check_vjp(smooth, lambda x: (smooth(x), lambda ct: ct), (X,))


def test_tolerances_and_steps_can_be_given() -> None:
    wrong = with_rule(lambda x, t: lax.mul(t, lax.mul(1.01, lax.cos(x))))
    check_grads(wrong, (X,), 1, atol=0.1, rtol=0.1)
    with pytest.raises(AssertionError, match="is wrong"):
        check_grads(smooth, (X,), 1, "fwd", eps=1.0)


def test_functions_that_bend_much_are_seen_with_shorter_steps() -> None:
    def wave(x: Any) -> Any:
        return lax.sin(lax.mul(x, 40.0))

    check_grads(wave, (X,), 1, atol=3e-3, rtol=3e-3)
    for mode in ("fwd", "rev"):
        with pytest.raises(AssertionError, match="wrong"):
            check_grads(wave, (X,), 1, mode, 3e-3, 3e-3, eps=0.05)


def test_tolerances_can_be_given_by_dtype() -> None:
    wrong = with_rule(lambda x, t: lax.mul(t, lax.mul(1.01, lax.cos(x))))
    loose = {np.float32: 0.1, "float64": 0.0}
    check_grads(wrong, (X,), 1, ("fwd", "rev"), atol=loose, rtol=loose)
    for only_others in ({}, {np.float64: 0.1}, {ml_dtypes.bfloat16: 0.1}):
        with pytest.raises(AssertionError, match="is wrong"):
            check_grads(wrong, (X,), 1, "fwd", atol=only_others, rtol=only_others)
    with pytest.raises(AssertionError, match="cotangents are wrong"):
        check_grads(smooth, (X,), 1, "rev", atol={np.float32: 0}, rtol={np.float32: 1e-9})
    with pytest.raises(
        TypeError, match="a number, at least 0, or a dict of numbers by dtype, got 'a' of type"
    ):
        check_grads(smooth, (X,), 1, atol="a")  # type: ignore[arg-type]


@pytest.mark.parametrize("modes", ["fwd", "rev", "lin"])
def test_nan_agrees_with_nan_and_infinities_do_not_change(modes: str) -> None:
    some_nan = np.array([np.nan, 1, 2, 3], np.float32)
    check_grads(lambda x: lax.mul(x, some_nan), (X,), 1, modes)
    check_grads(lambda x: lax.select(lax.gt(x, 0.5), lax.full_like(x, np.inf), x), (X,), 1, modes)
    undefined = with_rule(lambda x, t: lax.mul(t, np.float32(np.nan)))
    with pytest.raises(AssertionError, match="wrong"):
        check_grads(undefined, (X,), 1, modes)


def test_linearized_derivatives_are_checked_too() -> None:
    check_grads(smooth, (X,), 2, ("lin", "rev"))
    wrong = with_rule(lambda x, t: lax.mul(t, lax.mul(1.01, lax.cos(x))))
    with pytest.raises(AssertionError, match="linearized derivative of bind: the tangent is wrong"):
        check_grads(wrong, (X,), 1, "lin")


def test_integer_functions_have_nothing_to_check() -> None:
    seen: list[Any] = []

    def f(n: Any) -> Any:
        seen.append(n)
        return lax.add(n, 1)

    check_grads(f, (np.arange(3),), 2)
    assert seen and jvp(f, (3,), (np.zeros((), float0),))[1].dtype == float0


def test_misuse_is_named() -> None:
    with pytest.raises(TypeError, match=r"as a tuple or list, got ndarray: write check_grads\(f, "):
        check_grads(smooth, X, 1)  # type: ignore[arg-type]
    for order in (0, 1.5, True):
        with pytest.raises(ValueError, match="order must be a positive integer, got"):
            check_grads(smooth, (X,), order)  # type: ignore[arg-type]
    for modes in ("forward", (), ("fwd", "bwd")):
        with pytest.raises(ValueError, match="modes are 'fwd', 'rev' and 'lin', got"):
            check_grads(smooth, (X,), 1, modes)
    for eps in (0, -1e-3, float("inf"), X, "small"):
        with pytest.raises(ValueError, match="step of finite differences, is a positive number"):
            check_grads(smooth, (X,), 1, eps=eps)  # type: ignore[arg-type]


def test_a_tolerance_may_be_an_array() -> None:
    for kind in (np.float32, np.asarray, dnp.asarray, dnp.float32):
        check_grads(smooth, (X,), 1, atol=kind(1e-2), rtol=kind(1e-2))
    with pytest.raises(AssertionError):
        check_grads(smooth, (X,), 1, atol=dnp.float32(0), rtol=dnp.float32(0))


def test_a_tolerance_is_not_negative() -> None:
    with pytest.raises(TypeError, match="takes a tolerance as a number, at least 0, or a dict"):
        check_grads(smooth, (X,), 1, rtol=-3.0)
