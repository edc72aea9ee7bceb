"""Rules of reverse mode, and the forward mode that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail.custom_derivatives import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
)
from dovetail.test_util import check_grads


@dt.custom_vjp
def f(x: Any, y: Any) -> Any:
    return dnp.sin(x) * y


def f_fwd(x: Any, y: Any) -> Any:
    return f(x, y), (x, y)


def f_bwd(residuals: Any, ct: Any) -> Any:
    """Twice and thrice the right cotangents, so that their use can be seen."""
    x, y = residuals
    return 2 * dnp.cos(x) * y * ct, 3 * dnp.sin(x) * ct


f.defvjp(f_fwd, f_bwd)
XS = np.linspace(0.1, 1.1, 4, dtype=np.float32)
WANT = 2 * np.cos(0.6) * 2.0, 3 * np.sin(0.6)
both = dt.grad(f, (0, 1))


@pytest.mark.parametrize(
    "gradient",
    [
        both, dt.jit(both), dt.grad(dt.jit(f), (0, 1)), dt.grad(dt.checkpoint(f), (0, 1)),
        dt.jacrev(f, (0, 1)), dt.jacfwd(f, (0, 1)), dt.jit(dt.jacfwd(f, (0, 1))),
        dt.jacfwd(dt.jit(f), (0, 1)),
        lambda x, y: tuple(dt.linearize(f, x, y)[1](*t) for t in ((1.0, 0.0), (0.0, 1.0))),
        lambda x, y: tuple(dt.jvp(f, (x, y), t)[1] for t in ((1.0, 0.0), (0.0, 1.0))),
        dt.grad(lambda x, y: dt.lax.cond(x > 0, f, f, x, y), (0, 1)),
    ],
)  # fmt: skip
def test_derivatives_are_the_rules(gradient: Callable[..., Any]) -> None:
    np.testing.assert_allclose(gradient(0.6, 2.0), WANT, rtol=1e-6)


def test_a_shared_argument_collects_over_the_mapped_axis() -> None:
    want = 2 * np.cos(XS) * 2.0, (3 * np.sin(XS)).sum()
    mapped = dt.vmap(f, (0, None))
    for g in (mapped, dt.jit(mapped)):
        got = dt.grad(lambda x, y, g=g: g(x, y).sum(), (0, 1))(XS, 2.0)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-6)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-6)
    each = dt.vmap(both, (0, None))(XS, 2.0)
    np.testing.assert_allclose(each[0], want[0], rtol=1e-6)
    _, t = dt.jvp(mapped, (XS, 2.0), (np.ones_like(XS), 1.0))
    np.testing.assert_allclose(t, want[0] + 3 * np.sin(XS), rtol=1e-6)


def test_second_derivatives_through_both_modes() -> None:
    for second in (
        dt.grad(dt.grad(f)), dt.hessian(f), dt.jacfwd(dt.jacfwd(f)), dt.jacrev(dt.jacfwd(f)),
        dt.jit(dt.hessian(f)),
    ):  # fmt: skip
        np.testing.assert_allclose(second(0.6, 2.0), -4 * np.sin(0.6), rtol=1e-5)


def test_a_right_rule_agrees_with_finite_differences() -> None:
    @dt.custom_vjp
    def g(p: Any) -> Any:
        return {"out": dnp.sin(p["x"]) * p["y"], "sum": p["x"].sum()}

    def bwd(p: Any, ct: Any) -> Any:
        o, s = ct["out"], ct["sum"]
        x = dnp.cos(p["x"]) * p["y"] * o + s
        return ({"x": x, "y": (dnp.sin(p["x"]) * o).sum()},)

    g.defvjp(lambda p: (g(p), p), bwd)
    point = {"x": XS, "y": np.float32(1.5)}
    check_grads(g, (point,), order=2, modes=("fwd", "rev"), atol=1e-2, rtol=1e-2)


def test_scan_of_a_custom_function() -> None:
    def loop(x: Any, g: Any) -> Any:
        return dt.lax.scan(lambda c, _: (g(c, 2.0), c), x, None, length=3)

    def right(x: Any, y: Any) -> Any:
        return dnp.sin(x) * y

    g = dt.custom_vjp(right)
    g.defvjp(lambda x, y: (g(x, y), (x, y)), lambda r, ct: (
        dnp.cos(r[0]) * r[1] * ct, dnp.sin(r[0]) * ct))  # fmt: skip
    for transform in (dt.grad, dt.jacfwd, lambda h: dt.jit(dt.grad(h)), dt.hessian):
        got = transform(lambda x: loop(x, g)[0])(0.3)
        np.testing.assert_allclose(got, transform(lambda x: loop(x, right)[0])(0.3), rtol=1e-4)


def test_nondiff_arguments() -> None:
    @partial(dt.custom_vjp, nondiff_argnums=(0,), nondiff_argnames="n")
    def apply(g: Any, x: Any, n: Any) -> Any:
        return g(x) * n

    apply.defvjp(lambda g, x, n: (apply(g, x, n), x), lambda g, n, x, ct: (100 * n * ct,))
    slope = dt.grad(apply, 1)
    assert slope(dnp.sin, 1.0, 3) == 300.0
    assert dt.jit(slope, static_argnums=(0, 2))(dnp.sin, 1.0, 3) == 300.0
    traced = dt.jit(lambda n: slope(dnp.sin, 1.0, n))
    assert traced(3.0) == 300.0
    np.testing.assert_allclose(dt.vmap(lambda n: slope(dnp.sin, 1.0, n))(XS), 100 * XS, rtol=1e-6)


def test_symbolic_zeros() -> None:
    seen: list[Any] = []

    @dt.custom_vjp
    def g(x: Any, y: Any) -> Any:
        return x * y, x + y

    def fwd(x: Any, y: Any) -> Any:
        assert isinstance(x, CustomVJPPrimal)
        seen.append((x.perturbed, y.perturbed))
        x, y = custom_vjp_primal_tree_values((x, y))
        return g(x, y), (x, y)

    def bwd(residuals: Any, ct: Any) -> Any:
        seen.append([isinstance(t, SymbolicZero) for t in ct])
        return ct[0] * residuals[1], ct[0] * residuals[0]

    g.defvjp(fwd, bwd, symbolic_zeros=True)
    assert dt.grad(lambda x: g(x, 3.0)[0])(2.0) == 3.0
    assert seen == [(True, False), [False, True]]


def test_none_and_integers_among_cotangents() -> None:
    @dt.custom_vjp
    def g(x: Any, i: Any, unused: Any) -> Any:
        return x * i, i + 1

    def bwd(i: Any, ct: Any) -> Any:
        assert ct[1].dtype == dt.float0
        return ct[0] * i, np.zeros((), dt.float0), None

    g.defvjp(lambda x, i, u: (g(x, i, u), i), bwd)
    first = lambda x, i, u: g(x, i, u)[0]  # noqa: E731
    assert dt.grad(first, (0, 2))(2.0, 3, {"a": 1.0}) == (3.0, {"a": 0.0})
    assert dt.jit(dt.grad(first))(2.0, 3, {"a": 1.0}) == 3.0
    value, t = dt.jvp(lambda x: g(x, 3, 1.0), (2.0,), (1.0,))
    assert value == (6.0, 4) and t[0] == 3.0 and t[1].dtype == dt.float0


def test_cotangents_of_other_widths_and_of_integers() -> None:
    g = dt.custom_vjp(lambda x, i: x * i)
    g.defvjp(lambda x, i: (x * i, i), lambda i, ct: ((ct * i).astype(dnp.float16), i))
    for slope in (dt.grad(g), dt.jit(dt.grad(g))):
        assert slope(np.float32(2.0), 3) == 3.0 and slope(np.float32(2.0), 3).dtype == dnp.float32


def test_gradients_can_be_stashed_in_a_reference() -> None:
    def body(ref: Any, ct: Any) -> Any:
        ref[...] = ct
        return None, ct

    stash = dt.custom_vjp(lambda ref, x: x)
    stash.defvjp(lambda ref, x: (x, ref), body)
    use = lambda ref, x: 2 * dnp.sin(stash(ref, x))  # noqa: E731
    for slope in (dt.grad(use, 1), dt.jit(dt.grad(use, 1)), dt.grad(dt.jit(use), 1)):
        ref = dt.new_ref(dnp.zeros(()))
        np.testing.assert_allclose(slope(ref, 1.0), 2 * np.cos(1.0), rtol=1e-6)
        np.testing.assert_allclose(ref[...], 2 * np.cos(1.0), rtol=1e-6)


def test_jvp_and_vjp_on_one_function_serve_their_modes() -> None:
    g = dt.custom(lambda x: x * 1.0)
    g.def_jvp(lambda p, t: (p[0] * 1.0, 2 * t[0]))
    g.def_vjp(lambda x: (x * 1.0, None), lambda _, ct: (3 * ct,))
    for h in (g, dt.jit(g)):
        assert dt.jvp(h, (1.0,), (1.0,))[1] == 2.0 and dt.grad(h)(1.0) == 3.0
        pushed = dt.linearize(h, 1.0)[1]
        assert pushed(1.0) == 2.0 and dt.jit(pushed)(1.0) == 2.0
        assert dt.vjp(h, 1.0)[1](1.0) == (3.0,)
        assert dt.jit(dt.grad(h))(1.0) == 3.0
        assert dt.jit(lambda x, h=h: dt.jvp(h, (x,), (1.0,))[1])(1.0) == 2.0


def test_untransposable_backward_functions_still_have_reverse_mode() -> None:
    g = dt.custom_vjp(lambda x: dnp.sin(x))
    halve = lambda s: (s[0] + 1, s[1] * 0.5)  # noqa: E731

    def by_loop(x: Any, ct: Any) -> Any:
        return (dt.lax.while_loop(lambda s: s[0] < 3, halve, (0, ct))[1],)

    g.defvjp(lambda x: (g(x), x), by_loop)
    assert dt.grad(g)(1.0) == 0.125 and dt.jit(dt.grad(g))(1.0) == 0.125
    np.testing.assert_allclose(dt.grad(lambda x: dt.vmap(g)(x).sum())(XS), [0.125] * 4)


def test_collectives_in_a_backward_function_know_the_axis() -> None:
    g = dt.custom_vjp(lambda x: x * 2)

    def bwd(_: None, ct: Any) -> Any:
        return (dt.lax.psum(ct, "i") * dt.lax.axis_size("i"),)

    g.defvjp(lambda x: (g(x), None), bwd)
    got = dt.grad(lambda x: (dt.vmap(g, axis_name="i")(x) * XS).sum())(np.ones(4, np.float32))
    np.testing.assert_allclose(got, [4 * XS.sum()] * 4, rtol=1e-6)


def test_optimize_remat_runs_the_function_where_residuals_are_not_needed() -> None:
    def count(program: Any, name: str) -> int:
        from dovetail_core.ir.programs import open_program, subprograms

        eqns = open_program(program).eqns
        inner = sum(count(p, name) for e in eqns for p in subprograms(e.params))
        return inner + sum(e.primitive.name == name for e in eqns)

    for optimize in (False, True):
        g = dt.custom_vjp(lambda x: dnp.sin(x))
        g.defvjp(lambda x: (dnp.sin(x), dnp.cos(x)), lambda c, ct: (c * ct,), False, optimize)
        step = dt.checkpoint(lambda x, g=g: dnp.exp(g(x)))
        program = dt.make_jaxpr(lambda x, step=step: dt.value_and_grad(step)(x))(0.5)
        value, slope = dt.jit(dt.value_and_grad(step))(0.5)
        np.testing.assert_allclose(value, np.exp(np.sin(0.5)), rtol=1e-6)
        np.testing.assert_allclose(slope, np.exp(np.sin(0.5)) * np.cos(0.5), rtol=1e-6)
        assert (count(program, "custom_vjp_call") > 0) == optimize


def scaled(residuals: Any, seen: list[Any], optimize: bool = False) -> Any:
    """A function whose backward rule asks what the forward rule knew."""
    g = dt.custom_vjp(lambda x: x * 2.0)

    def backward(given: Any, ct: Any) -> tuple[Any]:
        (x, known) = given
        seen.append(known)
        return ((7.0 if known["flag"] else 9.0) * ct + 0 * sum(range(known["n"])) * x,)

    g.defvjp(lambda x: (x * 2.0, (x, residuals)), backward, optimize_remat=optimize)
    return g


USES: dict[str, Any] = {
    "grad": lambda g: dt.grad(g)(1.0),
    "jit of grad": lambda g: dt.jit(dt.grad(g))(1.0),
    "grad of jit": lambda g: dt.grad(dt.jit(g))(1.0),
    "vmap": lambda g: dt.vmap(dt.grad(g))(dnp.ones(2))[0],
    "grad of vmap": lambda g: dt.grad(lambda x: dt.vmap(g)(x).sum())(dnp.ones(2))[0],
    "vjp": lambda g: dt.jit(lambda x: dt.vjp(g, x)[1](1.0)[0])(1.0),
    "second order": lambda g: dt.grad(lambda x: dt.grad(g)(x) * x)(1.0),
    "scan": lambda g: dt.grad(
        lambda x: dt.lax.scan(lambda c, _: (g(c), None), x, None, length=1)[0]
    )(1.0),
    "cond": lambda g: dt.grad(lambda x: dt.lax.cond(x > 0, g, lambda x: x, x))(1.0),
    "checkpoint": lambda g: dt.grad(dt.checkpoint(g))(1.0),
    "checkpointed scan": lambda g: dt.jit(
        dt.grad(lambda x: dt.lax.scan(dt.checkpoint(lambda c, _: (g(c), None)), x, None, 1)[0])
    )(1.0),
}  # fmt: skip


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("use", USES)
def test_numbers_among_residuals_are_as_they_were(use: str, optimize: bool) -> None:
    known = {
        "flag": True, "n": 3, "rate": 2.5, "none": None, "complex": 1j, "array": dnp.ones(2),
        "numpy": np.float64(2.0), "numpy flag": np.bool_(True),
    }  # fmt: skip
    seen: list[Any] = []
    slope = USES[use](scaled(known, seen, optimize))
    assert seen and float(slope) == 7.0
    for result in seen:
        assert result.keys() == known.keys() and result["none"] is None
        for name, kind in (("flag", bool), ("n", int), ("rate", float), ("complex", complex)):
            assert type(result[name]) is kind and result[name] == known[name]
        assert (
            result["numpy"].dtype == np.float32 and result["numpy"] == 2.0 and result["numpy flag"]
        )
        assert result["array"].shape == (2,)
    assert float(dt.grad(scaled({**known, "flag": False}, seen))(1.0)) == 9.0


def test_a_backward_function_runs_with_cotangents_of_zero():
    """It may return something else, as those do that give away what they measured."""
    seen = []

    @dt.custom_vjp
    def measured(x):
        return x * 1

    def bwd(_, ct):
        seen.append(ct)
        return (0 * ct + 5,)

    measured.defvjp(lambda x: (x * 1, None), bwd)

    @dt.custom_vjp
    def blocked(x):
        return x * 2

    blocked.defvjp(lambda x: (x * 2, None), lambda _, ct: (None,))

    def scanned(x):
        return dt.lax.scan(lambda c, _: (blocked(measured(c)), None), x, None, length=2)[0]

    for f in (lambda x: blocked(2 * measured(x)), scanned):
        np.testing.assert_allclose(dt.grad(f)(3.0), 5)
        np.testing.assert_allclose(dt.jit(dt.grad(f))(3.0), 5)
        np.testing.assert_allclose(dt.vmap(dt.grad(f))(np.ones(3, np.float32)), 5)
    seen.clear()
    assert dt.grad(lambda x: (measured(x), 2 * x)[1])(3.0) == 2
    assert dt.grad(lambda x: dt.lax.stop_gradient(measured(x)) + x)(3.0) == 1
    assert not seen


def test_whole_numbers_are_cotangents() -> None:
    for zero in (0, True, np.int32(0), np.zeros((), np.int8)):
        f = dt.custom_vjp(lambda x, y: x * y)
        f.defvjp(lambda x, y: (x * y, y), lambda y, g, zero=zero: (g * y, zero))
        for transform in (lambda g: g, dt.jit):
            dx, dy = transform(dt.grad(f, (0, 1)))(2.0, 3.0)
            assert (dx, dy) == (3.0, float(zero)) and dy.dtype == np.float32


def test_functions_tell_their_rules() -> None:
    fwd, bwd = (lambda x: (x, None)), (lambda r, g: (g,))
    f = dt.custom_vjp(np.sin)
    assert (f.fwd, f.bwd, f.nondiff_argnums, f.symbolic_zeros) == (None, None, (), False)
    f.defvjp(fwd, bwd, optimize_remat=True)
    assert (f.fwd, f.bwd, f.fun, f.optimize_remat) == (fwd, bwd, np.sin, True)
    rule = lambda n, p, t: (p[0], t[0])  # noqa: E731
    g = dt.custom_jvp(lambda x, n: x, nondiff_argnames=("n",))
    assert g.jvp is None and g.nondiff_argnums == (1,)
    g.defjvp(rule, symbolic_zeros=True)
    assert g.jvp is rule and g.symbolic_zeros


@dt.tree_util.register_pytree_node_class
class _Schedule:
    """Takes nothing but numbers and arrays, and fills in what is None."""

    def __init__(self, target: Any, start: Any = None) -> None:
        if type(target) is object or type(start) is object:
            raise TypeError("a schedule is made of numbers")
        self.target, self.start = target, 2.0 if start is None else start

    def tree_flatten(self) -> Any:
        return (self.target, None if isinstance(self.start, float) else self.start), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> _Schedule:
        return cls(*children)


def test_none_stands_for_an_argument_whose_class_is_particular() -> None:
    @dt.custom_vjp
    def scaled(x: Any, how: Any) -> Any:
        return x * how["schedule"].target

    scaled.defvjp(
        lambda x, how: (scaled(x, how), how["schedule"].target),
        lambda target, ct: (ct * target, {"schedule": None, "weight": ct}),
    )
    how = {"schedule": _Schedule(np.float32(3)), "weight": np.float32(1)}
    for f in (scaled, dt.jit(scaled), lambda x, h: dt.vmap(scaled, (0, None))(x[None], h)[0]):
        result = dt.grad(f, argnums=(0, 1))(np.float32(2), how)
        assert float(result[0]) == 3 and float(result[1]["weight"]) == 1
        assert float(result[1]["schedule"].target) == 0

    wrong = dt.custom_vjp(lambda x, how: x * how[0])
    wrong.defvjp(lambda x, how: (x, None), lambda _, ct: (ct, (ct, ct, None)))
    with pytest.raises(TypeError, match="another structure than argument 1"):
        dt.grad(wrong)(np.float32(2), (np.float32(1), np.float32(1)))
