"""Loops over the slices of a reference, beside loops over the rows of NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, ref as dref
from dovetail.experimental import checkify

N = 4
W = np.linspace(0.2, 0.9, N)
START = np.linspace(-1.0, 1.0, N * 6).reshape(N, 2, 3)
Step = Callable[[Any, Any, Any], Any]


def step(c: Any, row: Any, w: Any, sin: Any = dnp.sin) -> Any:
    """The next carry and what is stacked; the row is read, written, and read again."""
    row[0] = sin(row[0]) * w + c
    row[1, ::2] += row[0, ::2] * c
    return c * w + sin(row[...]).sum(), row[1] * c


def row_by_row(c: Any, rows: Any, reverse: bool = False) -> Any:
    """The same on an array of NumPy, which it changes."""
    ys = [None] * N
    for i in reversed(range(N)) if reverse else range(N):
        c, ys[i] = step(c, rows[i], W[i], np.sin)
    return c, np.stack(ys)


def scanned(c: Any, rows: Any, **options: Any) -> Any:
    def body(c: Any, x: Any) -> Any:
        return step(c, x["rows"], x["w"])

    return lax.scan(body, c, {"rows": rows, "w": dnp.asarray(W)}, **options)


def final(c: Any, start: Any, **options: Any) -> Any:
    """What a function of arrays returns that makes the reference itself, and what is in it then."""
    rows = dovetail.new_ref(start)
    c, ys = scanned(c, rows, **options)
    return c, ys, rows[...]


def wanted(c: float = 0.5, start: Any = START, **options: Any) -> Any:
    rows = np.array(start)
    return *row_by_row(c, rows, **options), rows


def same(got: Any, want: Any) -> None:
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


WAYS: dict[str, dict[str, Any]] = {
    "forwards": {},
    "backwards": {"reverse": True},
    "unrolled": {"unroll": 3},
    "counted": {"length": N},
}


def value_checked(f: Any) -> Any:
    return lambda *args: checkify.checkify(f)(*args)[1]


@pytest.mark.parametrize("way", WAYS)
def test_steps_read_and_write_their_slices(wide: None, way: str) -> None:
    options = WAYS[way]
    want = wanted(reverse="reverse" in options)

    def f(c: Any, rows: Any) -> Any:
        return scanned(c, rows, **options)

    for under in (lambda f: f, dovetail.jit, dovetail.checkpoint, value_checked):
        rows = dovetail.new_ref(START)
        same((*under(f)(0.5, rows), rows[...]), want)
        rows = dovetail.new_ref(START)
        same((*under(lambda c: f(c, rows))(0.5), rows[...]), want)  # noqa: B023
        same(under(lambda c, x: final(c, x, **options))(0.5, START), want)
    with dovetail.disable_jit():
        rows = dovetail.new_ref(START)
        same((*f(0.5, rows), rows[...]), want)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_mapped_references(wide: None, axis: int) -> None:
    starts, cs = np.stack([START, START[::-1], START * 2]), np.array([0.5, -0.3, 1.0])
    want = [np.stack(xs) for xs in zip(*map(wanted, cs, starts))]
    want[2] = np.moveaxis(want[2], 0, axis)
    for under in (lambda f: f, dovetail.jit):
        rows = dovetail.new_ref(np.moveaxis(starts, 0, axis))
        out = under(dovetail.vmap(scanned, in_axes=(0, axis)))(cs, rows)
        same((*out, rows[...]), want)
    inside = dovetail.vmap(final, (0, axis), (0, 0, axis))
    same(dovetail.jit(inside)(cs, np.moveaxis(starts, 0, axis)), want)


def test_references_that_are_not_mapped_are_read_by_all(wide: None) -> None:
    rows, cs = dovetail.new_ref(START), np.array([0.5, -0.3, 1.0])

    def f(c: Any, rows: Any) -> Any:
        return lax.scan(lambda c, x: (c * x[0, 1], x[1] + c), c, rows)

    def plain(c: Any) -> Any:
        ys = []
        for x in START:
            ys.append(x[1] + c)
            c = c * x[0, 1]
        return c, np.stack(ys)

    want = [np.stack(xs) for xs in zip(*map(plain, cs))]
    same(dovetail.vmap(f, (0, None))(cs, rows), want)
    same(dovetail.vmap(lambda c: f(c, rows))(cs), want)
    slope = dovetail.jit(dovetail.grad(lambda c: f(c, rows)[0]))(0.5)
    np.testing.assert_allclose(slope, np.prod(START[:, 0, 1]), rtol=1e-12)


def loss(c: Any, start: Any, **options: Any) -> Any:
    c, ys, rows = final(c, start, **options)
    return c + (ys * ys).sum() + (rows * dnp.cos(rows)).sum()


def plain_loss(c: float, start: Any, **options: Any) -> Any:
    c, ys, rows = wanted(c, start, **options)
    return c + (ys * ys).sum() + (rows * np.cos(rows)).sum()


def slopes(f: Any, start: Any) -> Any:
    """The gradient of an analytic function of an array, which NumPy computes of complex numbers:
    no difference is formed, so none has an error."""
    result = np.zeros_like(start)
    for at in np.ndindex(*start.shape):
        moved = start.astype(complex)
        moved[at] += 1e-30j
        result[at] = f(moved).imag / 1e-30
    return result


def gradients(**options: Any) -> tuple[Any, Any]:
    """Of the loss, in the first carry and in what the reference holds first."""
    of_carry = plain_loss(0.5 + 1e-30j, START.astype(complex), **options).imag / 1e-30
    return of_carry, slopes(lambda x: plain_loss(0.5, x, **options), START)


@pytest.mark.parametrize("way", ["forwards", "backwards"])
def test_derivatives(wide: None, way: str) -> None:
    options = WAYS[way]
    f = lambda c, x: loss(c, x, **options)  # noqa: E731
    want = gradients(**options)
    both = (0, 1)
    for g in (
        dovetail.grad(f, both),
        dovetail.jit(dovetail.grad(f, both)),
        dovetail.grad(dovetail.jit(f), both),
        dovetail.grad(dovetail.checkpoint(f), both),
        dovetail.jacfwd(f, both),
        dovetail.jacrev(f, both),
        lambda c, x: dovetail.linear_transpose(dovetail.linearize(f, c, x)[1], c, x)(1.0),
        lambda c, x: [y[0] for y in dovetail.vmap(dovetail.grad(f, both))(c[None], x[None])],
        dovetail.grad(lambda c, x: lax.cond(c > 0, f, lambda c, x: c, c, x), both),
    ):
        for a, b in zip(g(np.float64(0.5), START), want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    hessian = dovetail.hessian(f)(0.5, START)
    np.testing.assert_allclose(hessian, dovetail.jacfwd(dovetail.jacfwd(f))(0.5, START), rtol=1e-9)


def test_steps_that_are_computed_again(wide: None) -> None:
    def f(c: Any, start: Any) -> Any:
        rows = dovetail.new_ref(start)
        body = dovetail.checkpoint(lambda c, x: step(c, *x))
        c, ys = lax.scan(body, c, (rows, dnp.asarray(W)))
        return c + (ys * ys).sum() + (rows[...] * dnp.cos(rows[...])).sum()

    want = gradients()
    scheme, periodic = dovetail.Binomial(snapshots=2), dovetail.Periodic(every=2)
    for g in (f, *(lambda c, x, s=s: loss(c, x, checkpoint=s) for s in (scheme, periodic))):
        for h in (dovetail.grad(g, (0, 1)), dovetail.jit(dovetail.grad(g, (0, 1)))):
            for a, b in zip(h(0.5, START), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    rows = dovetail.new_ref(START)
    same((*scanned(0.5, rows, checkpoint=scheme), rows[...]), wanted())


def test_a_reference_from_outside_is_written_once_where_others_are_differentiated(
    wide: None,
) -> None:
    rows, out = np.array(START), dovetail.new_ref(START)

    def f(c: Any, out: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            x[0, 0] += 1.0
            return c * x[0, 0], None

        return lax.scan(body, c, out)[0]

    for g in (dovetail.grad(f), dovetail.jit(dovetail.grad(f)), dovetail.grad(dovetail.jit(f))):
        rows[:, 0, 0] += 1.0
        np.testing.assert_allclose(g(0.5, out), np.prod(rows[:, 0, 0]), rtol=1e-12)
        np.testing.assert_allclose(out[...], rows, rtol=1e-12)


def test_slices_of_slices(wide: None) -> None:
    def inner(c: Any, x: Any) -> Any:
        x[...] = dnp.sin(x[...]) + c
        return c + x[0], x[1] * c

    def nested(c: Any, rows: Any) -> Any:
        return lax.scan(lambda c, row: lax.scan(inner, c, row, reverse=True), c, rows)

    def plain(c: Any, rows: Any) -> Any:
        ys = np.zeros((N, 2), rows.dtype)
        for i in range(N):
            for j in (1, 0):
                rows[i, j] = np.sin(rows[i, j]) + c
                ys[i, j] = rows[i, j, 1] * c
                c = c + rows[i, j, 0]
        return c, ys

    rows = np.array(START)
    want = (*plain(0.5, rows), rows)
    for under in (lambda f: f, dovetail.jit):
        ref = dovetail.new_ref(START)
        same((*under(nested)(0.5, ref), ref[...]), want)

    def total(start: Any) -> Any:
        ref = dovetail.new_ref(start)
        return nested(0.5, ref)[0] + (ref[...] ** 2).sum()

    def plain_total(rows: Any) -> Any:
        c = plain(0.5, rows)[0]
        return c + (rows**2).sum()

    np.testing.assert_allclose(dovetail.grad(total)(START), slopes(plain_total, START), rtol=1e-10)


def test_slices_in_calls_branches_and_loops(wide: None) -> None:
    @dovetail.jit
    def double(x: Any) -> Any:
        x[...] *= 2.0

    def body(c: Any, x: Any) -> Any:
        lax.cond(x[0, 0] < 0, lambda: double(x), lambda: dref.addupdate(x, 1, c))
        lax.fori_loop(0, 2, lambda i, _: x.at[i].__setitem__(0, x[i, 1]), None)
        return c + 1.0, dref.swap(x, (0, 2), c)

    rows, want = dovetail.new_ref(START), np.array(START)
    ys = want[:, 0, 2].copy()
    for c, x in enumerate(want):
        if x[0, 0] < 0:
            x *= 2.0
        else:
            x[1] += c
        x[:, 0] = x[:, 1]
        ys[c], x[0, 2] = x[0, 2], c
    out = dovetail.jit(lambda rows: lax.scan(body, 0.0, rows))(rows)
    same((*out, rows[...]), (N, ys, want))


def test_map(wide: None) -> None:
    def f(x: Any) -> Any:
        rows, w = x
        rows[...] = rows[...] * w
        return rows[1].sum()

    want = START * W[:, None, None]
    for options in ({}, {"batch_size": 1}, {"batch_size": 3}):
        for under in (lambda f: f, dovetail.jit):
            rows = dovetail.new_ref(START)
            ys = under(lambda rows: lax.map(f, (rows, dnp.asarray(W)), **options))(rows)  # noqa: B023
            same((ys, rows[...]), (want[:, 1].sum(-1), want))


def test_the_program_has_the_slices_as_references() -> None:
    rows = dovetail.new_ref(dnp.ones((3, 2)))
    program = dovetail.make_jaxpr(lambda r: lax.map(lambda x: x[0], r))(rows)
    (loop,) = program.eqns
    assert loop.params["jaxpr"].in_avals == [dovetail.typeof(dovetail.new_ref(dnp.ones(2)))]
    text = dovetail.jit(lambda r: lax.map(lambda x: x.__setitem__(..., x[...] + 1), r)).lower(rows)
    assert "dynamic_update_slice" in text.as_text()  # the new rows, stacked
