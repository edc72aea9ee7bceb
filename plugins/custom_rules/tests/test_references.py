"""Custom rules that read and write references: arguments, and values that they close over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax

f32 = np.float32
grad, jit, vmap = dovetail.grad, dovetail.jit, dovetail.vmap
Function = Callable[[Any], Any]

KINDS = {
    "body reads": (5.0, 5.0),
    "body writes": (2.0, 6.0),
    "forward rule reads": (5.0, 5.0),
    "forward rule writes": (2.0, 6.0),
    "backward rule reads": (10.0, 5.0),
    "backward rule writes": (2.0, 3.0),
    "backward rule adds": (2.0, 8.0),
}
"""The derivative at any place, and what the reference, which holds 5, holds after it."""


def closing_over(ref: Any, kind: str) -> Function:
    """A function with a rule that uses a reference; its derivative is multiplied by 3."""

    @dovetail.custom_vjp
    def f(x: Any) -> Any:
        if kind == "body writes":
            ref[...] += 1.0
        return x * (ref[...] if kind == "body reads" else 2.0)

    def forward(x: Any) -> Any:
        if kind in ("body writes", "forward rule writes"):
            ref[...] += 1.0
        reads = kind in ("body reads", "forward rule reads")
        return x * 2.0, ref[...] if reads else dnp.asarray(2.0)

    def backward(residual: Any, ct: Any) -> Any:
        if kind == "backward rule writes":
            ref[...] = ct
        if kind == "backward rule adds":
            ref[...] += ct
        return (ct * residual * (ref[...] if kind == "backward rule reads" else 1.0),)

    f.defvjp(forward, backward)
    return lambda x: 3.0 * f(x)


def in_scan(f: Function) -> Function:
    return lambda x: lax.scan(lambda c, _: (c + f(x), None), 0.0, None, length=1)[0]


def in_while(f: Function) -> Function:
    return lambda x: lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, f(x)), (0, x))[1]


def in_cond(f: Function) -> Function:
    return lambda x: lax.cond(x > 0, f, lambda x: x * 0, x)


def in_fori(f: Function) -> Function:
    return lambda x: lax.fori_loop(0, 1, lambda _, c: c + f(x), 0.0)


def in_switch(f: Function) -> Function:
    return lambda x: lax.switch(1, [lambda x: x, f], x)


ORDERS: dict[str, Callable[[Function], Function]] = {
    "grad": grad,
    "jit(grad)": lambda f: jit(grad(f)),
    "grad(jit)": lambda f: grad(jit(f)),
    "jit(grad(jit))": lambda f: jit(grad(jit(f))),
    "grad(jit(jit))": lambda f: grad(jit(lambda x: jit(f)(x))),
    "vjp(jit)": lambda f: lambda x: dovetail.vjp(jit(f), x)[1](1.0)[0],
    "jacrev(jit)": lambda f: dovetail.jacrev(jit(f)),
    "scan": lambda f: grad(in_scan(f)),
    "jit(scan)": lambda f: jit(grad(in_scan(f))),
    "scan of jit": lambda f: grad(jit(in_scan(jit(f)))),
    "cond": lambda f: grad(in_cond(f)),
    "jit(cond)": lambda f: jit(grad(in_cond(f))),
    "cond in scan": lambda f: grad(in_scan(in_cond(f))),
    "switch": lambda f: jit(grad(in_switch(f))),
    "fori_loop": lambda f: grad(in_fori(f)),
    "checkpoint": lambda f: grad(dovetail.checkpoint(f)),
    "jit(checkpoint)": lambda f: jit(grad(dovetail.checkpoint(f))),
    "checkpoint(jit)": lambda f: grad(dovetail.checkpoint(jit(f))),
    "scan of checkpoint": lambda f: grad(in_scan(dovetail.checkpoint(f))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_closed_over(kind: str) -> None:
    slope, after = KINDS[kind]
    for order, transform in ORDERS.items():
        if order == "jacrev(jit)" and kind in ("backward rule writes", "backward rule adds"):
            continue  # cotangents are mapped: each would be written to the one place
        ref = dovetail.new_ref(f32(5.0))
        result = transform(closing_over(ref, kind))(f32(0.5))
        assert (float(result), float(ref[...])) == (3 * slope, after), order


@pytest.mark.parametrize("kind", KINDS)
def test_closed_over_a_reference_of_the_program(kind: str) -> None:
    """The reference is made in a compiled program, or is its argument."""
    slope, after = KINDS[kind]

    def inside(x: Any) -> Any:
        ref = dovetail.new_ref(f32(5.0))
        return grad(in_scan(jit(closing_over(ref, kind))))(x), ref[...]

    def given(x: Any, ref: Any) -> Any:
        return grad(jit(in_cond(closing_over(ref, kind))))(x)

    assert tuple(map(float, jit(inside)(f32(0.5)))) == (3 * slope, after)
    ref = dovetail.new_ref(f32(5.0))
    assert float(jit(given)(f32(0.5), ref)) == 3 * slope and float(ref[...]) == after


def test_closed_over_and_used_beside_it() -> None:
    """A program that has the reference as an operand, and that a rule uses by its own name."""
    for transform in (grad, lambda f: grad(jit(f)), lambda f: jit(grad(jit(f)))):
        for wrap in (lambda f: f, jit, in_scan, in_cond, in_fori, dovetail.checkpoint):
            ref = dovetail.new_ref(f32(5.0))
            f = closing_over(ref, "forward rule writes")

            def g(x: Any, ref: Any = ref, f: Any = f) -> Any:
                ref[...] *= 2.0
                y = f(x) * ref[...]  # 11 where it is differentiated
                ref[...] += 0.5
                return y

            result = transform(wrap(g))(f32(0.5))
            assert (float(result), float(ref[...])) == (6.0 * 11.0, 11.5)


def test_values_are_the_bodys() -> None:
    for kind, factor, after in (("body reads", 5.0, 5.0), ("body writes", 2.0, 6.0)):
        for wrap in (lambda f: f, jit, in_scan, in_cond, in_while, in_fori, dovetail.checkpoint):
            for under in (lambda f: f, jit):
                ref = dovetail.new_ref(f32(5.0))
                result = under(wrap(closing_over(ref, kind)))(f32(0.5))
                assert (float(result), float(ref[...])) == (1.5 * factor, after)


def test_the_program_is_differentiated_for_each_reference() -> None:
    """What is remembered of a traced function is no other reference's."""

    def f(x: Any, ref: Any) -> Any:
        return stashing(x * x, ref)

    compiled = jit(f)
    for k in range(3):
        ref = dovetail.new_ref(f32(k))
        assert float(grad(compiled)(f32(3.0), ref)) == 6.0 and float(ref[...]) == 1.0


@dovetail.custom_vjp
def stashing(x: Any, ref: Any) -> Any:
    return x * 1.0


def _backward(ref: Any, ct: Any) -> Any:
    ref[...] = ct
    return ct, None


stashing.defvjp(lambda x, ref: (x * 1.0, ref), _backward)


# --- references as arguments ----------------------------------------------------------------------


def stash(x: Any, ref: Any) -> Any:
    return 3.0 * stashing(x * x, ref)


@dovetail.custom_vjp
def scaling(x: Any, ref: Any) -> Any:
    ref[...] += 1.0
    return x * ref[...]


def _scaled(x: Any, ref: Any) -> Any:
    ref[...] += 1.0
    return x * ref[...], (ref[...], ref)


def _scaled_back(residuals: Any, ct: Any) -> Any:
    factor, ref = residuals
    ref[...] += 10.0 * ct
    return ct * factor, None


scaling.defvjp(_scaled, _scaled_back)


@dovetail.custom_jvp
def jumping(x: Any, ref: Any) -> Any:
    return x * ref[...]


@jumping.defjvp
def _jumping_jvp(primals: Any, tangents: Any) -> Any:
    x, ref = primals
    return x * ref[...], 10.0 * tangents[0] * ref[...]


FUNCTIONS: dict[str, tuple[Any, Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "stashing": (stash, lambda x, r: 6 * x, lambda x, r: 3 + 0 * r),
    "scaling": (scaling, lambda x, r: r + 1, lambda x, r: r + 11),
    "jumping": (jumping, lambda x, r: 10 * r, lambda x, r: r),
}
"""A function, its derivative, and what the reference holds after it, from x and what it held."""


def total(f: Any, *wraps: Any) -> Any:
    """The sum of what a function returns, mapped over arrays and over references."""
    for wrap in wraps:
        f = wrap(f)
    return lambda x, ref: vmap(f)(x, ref).sum()


def once(f: Any) -> Any:
    return lambda x, ref: lax.scan(lambda c, _: (c + f(x, ref), None), 0.0, None, length=1)[0]


def chosen(f: Any) -> Any:
    return lambda x, ref: lax.cond(True, f, lambda x, ref: x, x, ref)


def by_rows(f: Any) -> Any:
    def run(x: Any, ref: Any) -> Any:
        return lax.scan(lambda c, xs: (c + f(*xs), None), 0.0, (x, ref))[0]

    return run


MAPPED: dict[str, Callable[[Any], Any]] = {
    "vmap(grad)": lambda f: vmap(grad(f)),
    "grad(vmap)": lambda f: grad(total(f)),
    "jit(grad(vmap))": lambda f: jit(grad(total(f))),
    "grad(jit(vmap))": lambda f: grad(jit(total(f))),
    "grad(vmap(jit))": lambda f: grad(total(f, jit)),
    "grad(vmap(jit(jit)))": lambda f: jit(grad(total(f, jit, jit))),
    "grad(vmap(scan))": lambda f: grad(total(f, once)),
    "grad(vmap(jit(scan)))": lambda f: grad(total(f, once, jit)),
    "grad(vmap(cond))": lambda f: grad(total(f, chosen)),
    "grad(vmap(checkpoint))": lambda f: grad(total(f, dovetail.checkpoint)),
    "grad(checkpoint(vmap))": lambda f: grad(dovetail.checkpoint(total(f))),
    "jit(grad(checkpoint(vmap)))": lambda f: jit(grad(dovetail.checkpoint(total(f)))),
    "grad(scan)": lambda f: grad(by_rows(f)),
    "grad(scan(jit))": lambda f: grad(by_rows(jit(f))),
    "jit(grad(scan))": lambda f: jit(grad(by_rows(f))),
    "grad(jit(scan(checkpoint)))": lambda f: grad(jit(by_rows(dovetail.checkpoint(f)))),
    "vmap(grad(scan))": lambda f: lambda x, ref: vmap(grad(once(f)))(x, ref),
    "closed over": lambda f: lambda x, ref: grad(lambda x: total(f)(x, ref))(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mapped_and_sliced_arguments(name: str) -> None:
    f, slope, after = FUNCTIONS[name]
    x, held = np.arange(1, 4, dtype=f32), np.array([2, 3, 5], f32)
    for order, transform in MAPPED.items():
        ref = dovetail.new_ref(held)
        np.testing.assert_allclose(transform(f)(x, ref), slope(x, held), err_msg=order)
        np.testing.assert_allclose(ref[...], after(x, held), err_msg=order)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_and_nested_maps(name: str) -> None:
    f, slope, after = FUNCTIONS[name]
    x, held = np.arange(6, dtype=f32).reshape(2, 3), np.arange(1, 7, dtype=f32).reshape(2, 3)
    want, left = slope(x, held), after(x, held)
    for under in (lambda f: f, jit):
        for axes in ((0, 0), (1, 1), (0, 1), (1, 0)):
            a, b = (np.moveaxis(m, 0, axis) for m, axis in zip((x, held), axes))
            ref = dovetail.new_ref(b)
            g = grad(lambda x, r: vmap(vmap(f), axes)(x, r).sum())  # noqa: B023
            np.testing.assert_allclose(under(g)(a, ref), np.moveaxis(want, 0, axes[0]))
            np.testing.assert_allclose(ref[...], np.moveaxis(left, 0, axes[1]))
            ref = dovetail.new_ref(b)
            g = vmap(grad(total(f)), axes)
            np.testing.assert_allclose(under(g)(a, ref), want)
            np.testing.assert_allclose(ref[...], np.moveaxis(left, 0, axes[1]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_references_that_are_made_inside(name: str) -> None:
    """Under derivatives and maps they are contents, but a rule gets a reference."""
    f, slope, _ = FUNCTIONS[name]

    def made(x: Any, wrap: Any = lambda f: f) -> Any:
        ref = dovetail.new_ref(f32(2.0))
        ref[...] *= 2.0
        y = wrap(f)(x, ref)
        return y + 0.0 * ref[...]

    x = np.arange(1, 4, dtype=f32)
    want = slope(x, np.full(3, 4, f32))
    for wrap in (lambda f: f, jit, once, chosen):
        g = lambda x, wrap=wrap: made(x, wrap)  # noqa: E731
        for h in (grad(g), jit(grad(g)), grad(jit(g)), grad(dovetail.checkpoint(g))):
            np.testing.assert_allclose(h(x[1]), want[1])
            np.testing.assert_allclose(vmap(h)(x), want)
        for h in (g, jit(g), dovetail.checkpoint(g)):
            np.testing.assert_allclose(grad(lambda x: vmap(h)(x).sum())(x), want)  # noqa: B023


def test_what_a_rule_writes_is_read_after_it() -> None:
    def f(x: Any) -> Any:
        ref = dovetail.new_ref(f32(2.0))
        y = scaling(x, ref)  # 3 x
        ref[...] *= 10.0
        return scaling(y, ref) * ref[...]  # 31 * 3 x * 31

    x = np.arange(1, 4, dtype=f32)
    for g in (f, jit(f), dovetail.checkpoint(f)):
        assert float(g(f32(2.0))) == 2 * 3 * 31 * 31
        assert float(grad(g)(f32(2.0))) == 3 * 31 * 31
        np.testing.assert_array_equal(vmap(g)(x), x * 3 * 31 * 31)
        np.testing.assert_array_equal(grad(lambda x: vmap(g)(x).sum())(x), [3 * 31 * 31] * 3)  # noqa: B023


def test_rules_of_batching_get_the_whole_reference() -> None:
    @dovetail.custom_batching.custom_vmap
    def f(x: Any, ref: Any) -> Any:
        ref[...] += x
        return x * 2.0

    @f.def_vmap
    def rule(size: int, batched: Any, x: Any, ref: Any) -> Any:
        ref[...] += x * 10.0 if batched[1] else x.sum()
        return x * 3.0, True

    x = np.arange(3, dtype=f32)
    for g in (f, jit(f), once(f)):
        refs, ref = dovetail.new_ref(np.ones(3, f32)), dovetail.new_ref(f32(1.0))
        np.testing.assert_array_equal(vmap(g)(x, refs), x * 3)
        np.testing.assert_array_equal(refs[...], 1 + 10 * x)
        np.testing.assert_array_equal(vmap(g, (0, None))(x, ref), x * 3)
        assert float(ref[...]) == 4.0


# --- refusals -------------------------------------------------------------------------------------


def test_branches_that_a_mapped_predicate_chooses() -> None:
    def f(x: Any, ref: Any) -> Any:
        return lax.cond(x > 1, stash, lambda x, ref: x, x, ref)

    text = (
        r"cond at .* gives Ref\{f32\[\]\} to a function with rules of its own, in a branch that a"
    )
    with pytest.raises(TypeError, match=text):
        vmap(f)(np.arange(3, dtype=f32), dovetail.new_ref(np.zeros(3, f32)))


def test_rules_that_close_over_what_the_transformation_made() -> None:
    def f(x: Any) -> Any:
        ref = dovetail.new_ref(f32(2.0))
        return closing_over(ref, "forward rule reads")(x) + ref[...]

    text = (
        r"forward, a rule of f, uses a traced value .*Ref\{f32\[\]\} .*Make the value an argument"
    )
    one = f32(1.0)
    for g in (grad(f), jit(grad(f)), grad(jit(f)), lambda x: vmap(grad(f))(x[None])):
        with pytest.raises(dovetail.errors.UnexpectedTracerError, match=text):
            g(one)


def test_references_that_hold_tangents() -> None:
    def f(x: Any, wrap: Any) -> Any:
        return wrap(stash)(x, dovetail.new_ref(x))

    text = r"has a rule of its own for differentiation.*given Ref\{f32\[\]\} at .*Pass its value"
    for wrap in (lambda f: f, jit, once):
        with pytest.raises(TypeError, match=text):
            grad(f)(f32(1.0), wrap)


def test_slices_of_what_is_mapped() -> None:
    x = np.arange(6, dtype=f32).reshape(2, 3)
    ref = dovetail.new_ref(np.zeros((3, 2), f32))
    result = grad(lambda x: vmap(by_rows(stash), (0, 1))(x, ref).sum())(x)
    np.testing.assert_array_equal(result, 6 * x)
    np.testing.assert_array_equal(ref[...], np.full((3, 2), 3))
    with pytest.raises(
        TypeError, match=r"Ref\{f32\[2,3\]\} is mapped along axis 0, and a loop at .*"
    ):
        vmap(by_rows(stash))(x, dovetail.new_ref(x))


# --- other functions with rules -------------------------------------------------------------------


def rooted(x: Any, ref: Any) -> Any:
    def improved(f: Any, y: Any) -> Any:
        return lax.fori_loop(0, 20, lambda i, y: y - f(y) / (2 * y), y)

    root = lambda y: y**2 - x * ref[...]  # noqa: E731
    return lax.custom_root(root, 1.0, improved, lambda g, y: y / g(1.0))


def solved(x: Any, ref: Any) -> Any:
    divided = lambda _, b: b / ref[...]  # noqa: E731
    return lax.custom_linear_solve(lambda y: ref[...] * y, x, divided, divided)


def converted(x: Any, ref: Any) -> Any:
    f, consts = dovetail.closure_convert(lambda y: y * x * ref[...], x)
    return f(x, *consts)


def with_gradient(x: Any, ref: Any) -> Any:
    @dovetail.custom_gradient
    def f(x: Any) -> Any:
        v = ref[...]
        return x * v, lambda ct: 10.0 * ct * v

    return f(x)


OTHERS: dict[str, tuple[Any, float, float]] = {
    "custom_root": (rooted, np.sqrt(6.0), 2.0 / (2 * np.sqrt(6.0))),
    "custom_linear_solve": (solved, 1.5, 0.5),
    "closure_convert": (converted, 18.0, 12.0),
    "custom_gradient": (with_gradient, 6.0, 20.0),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_that_close_over_references(name: str) -> None:
    f, value, slope = OTHERS[name]
    x, ref = f32(3.0), dovetail.new_ref(f32(2.0))
    for g in (f, jit(f), dovetail.checkpoint(f), once(f)):
        np.testing.assert_allclose(g(x, ref), value, rtol=1e-6)
    orders = [grad(f), jit(grad(f)), grad(jit(f)), grad(once(f)), grad(dovetail.checkpoint(f))]
    for g in [*orders, dovetail.jacfwd(f), grad(chosen(f))]:
        np.testing.assert_allclose(g(x, ref), slope, rtol=1e-6)
    np.testing.assert_allclose(vmap(f, (0, None))(x[None], ref)[0], value, rtol=1e-6)
    assert float(ref[...]) == 2.0
