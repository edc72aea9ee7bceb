"""Errors against Python loops with NumPy that stop at the first failure, everywhere."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from acme_checked import CheckError, check, checked

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_testing import matrix

f32 = np.float32
XS = np.linspace(0.5, 2.0, 4).astype(f32)

test_laws = matrix(primitives="checked")


def walk(x, xs):
    """Two checks in a scan, one of them in a branch; one in a while loop, and in its condition."""

    def grow(k):
        check(k < 15, "grown to {k}", k=k)
        return k * 2

    def step(k, y):
        check(k + y < 4, "{k} and {y} are too much", k=k, y=y)
        k = lax.cond(y > 1.2, dovetail.jit(lambda k: guarded(k)), lambda k: k, k)
        return k + y, k

    def guarded(k):
        check(k > -3, "{k} in a branch", k=k)
        return k

    def condition(k):
        check(k != 1.0, "unlucky")
        return k < 20

    k, ys = lax.scan(step, x, xs)
    return lax.while_loop(condition, grow, k * k), ys


def plain(x, xs):
    k = x
    for y in xs:
        if not k + y < 4:
            return f"{k} and {y} are too much"
        if y > 1.2 and not k > -3:
            return f"{k} in a branch"
        k = k + y
    k = k * k
    while True:
        if k == 1:
            return "unlucky"
        if not k < 20:
            return None
        if not k < 15:
            return f"grown to {k}"
        k = k * 2


STARTS = np.array([-9.0, -4.0, -3.0, -1.25, 0.1, 2.5], f32)


def message(error):
    found = error.get()
    return found and found.partition(" at ")[0]


@pytest.mark.parametrize("x", STARTS)
def test_the_first_failure(x):
    wanted = plain(x, XS)
    for f in (checked(walk), dovetail.jit(checked(walk)), checked(dovetail.jit(walk))):
        error, out = f(x, XS)
        assert message(error) == wanted
    if wanted is None:
        expected = walk(x, XS)
        for a, b in zip(out, expected):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b))


def test_messages_have_the_line_of_the_check():
    error, _ = checked(walk)(f32(2.5), XS)
    lines, first = inspect.getsourcelines(walk)
    line = first + next(i for i, text in enumerate(lines) if "too much" in text)
    with pytest.raises(
        CheckError, match=rf"^3.0 and 1.0 are too much at .*test_checked.py:{line} "
    ):
        error.throw()
    checked(walk)(f32(-1.25), XS)[0].throw()


def test_vmap():
    xs = np.array([-1.25, 2.5, 3.9, -3], f32)
    error, _ = dovetail.vmap(checked(walk), (0, None))(xs, XS)
    assert np.asarray(error.code).astype(bool).tolist() == [plain(x, XS) is not None for x in xs]
    assert error.get().startswith(plain(xs[1], XS)) and error.get().endswith("(element 1)")
    found = dovetail.jit(dovetail.vmap(checked(walk), (0, None)))(xs, XS)[0]
    assert found.get().endswith("(element 1)")


def test_checks_of_what_is_mapped():
    """All elements together; not where a loop goes on after some of them are done."""

    def f(x):
        check(x < 3, "{x} is not below 3", x=x)
        return lax.scan(lambda k, y: (k * y, check(k < 9, "{k}", k=k)), x, XS)[0]

    for g in (checked(dovetail.vmap(f)), dovetail.jit(checked(dovetail.vmap(f)))):
        assert message(g(np.array([1, 4, 2], f32))[0]) == "[1. 4. 2.] is not below 3"
        assert message(g(np.array([1, 2, 2.5], f32))[0]) is None
    with pytest.raises(TypeError, match="it also runs after some elements are done"):
        checked(dovetail.vmap(walk, (0, None)))(np.ones(2, f32), XS)


def test_grad():
    def f(x):
        check(x < 1, "{x} is not below 1", x=x)
        return lax.scan(lambda k, y: (dnp.sin(k) * y, check(k < 5, "{k}", k=k)), x, XS)[0]

    wanted = dovetail.grad(lambda x: lax.scan(lambda k, y: (dnp.sin(k) * y, None), x, XS)[0])
    for x, text in ((f32(0.5), None), (f32(2), "2.0 is not below 1")):
        value = lambda x: checked(f)(x)[::-1]  # noqa: E731
        slope, error = dovetail.grad(value, has_aux=True)(x)
        np.testing.assert_allclose(np.asarray(slope), np.asarray(wanted(x)), rtol=1e-6)
        assert message(error) == text
        error, slope = checked(dovetail.grad(f))(x)
        np.testing.assert_allclose(np.asarray(slope), np.asarray(wanted(x)), rtol=1e-6)
        assert message(error) == text


def test_references():
    def f(xs):
        total = dovetail.new_ref(dnp.zeros((), f32))

        def step(k, x):
            total[...] += x
            check(total[...] < 3, "the sum is {t}", t=total[...])
            return k, None

        lax.scan(step, 0, xs)
        return total[...]

    for g in (checked(f), dovetail.jit(checked(f))):
        error, out = g(XS)
        assert message(error) == "the sum is 3.0" and out == 5
        assert g(XS / 4)[0].get() is None


def test_without_checked():
    with pytest.raises(CheckError, match=r"3 is too large at .*test_checked.py"):
        check(f32(3) < 2, "{x} is too large", x=3)
    f = lambda x: (check(x < 2, "{x} is too large", x=x), x * 2)[1]  # noqa: E731
    assert dovetail.jit(f)(f32(3)) == 6
    with pytest.raises(CheckError, match=r"3\.0 is too large"):
        f(f32(3))


AUTOMATIC = {
    "nan": (lambda x: dnp.log(x) * 0, (f32(-1),), "NaN in a result of log"),
    "division": (lambda x, y: x // y, (np.int32(3), np.int32(0)), "division by zero in div"),
    "index": (lambda x, i: x[i], (XS, np.int32(4)), "index out of bounds in dynamic_slice"),
}


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_automatic_checks(kind):
    f, args, text = AUTOMATIC[kind]
    for others in (["nan", "division", "index"], [kind]):
        error, _ = checked(f, automatic=others)(*args)
        assert text in (message(error) or "") or kind == "division"
        assert error.get() and "test_checked.py" in error.get()
    rest = [k for k in AUTOMATIC if k != kind]
    if kind != "nan":
        assert checked(f, automatic=rest)(*args)[0].get() is None
    assert checked(f)(*args)[0].get() is None


@pytest.mark.parametrize("i", [-5, -4, 0, 3, 4])
def test_indices(i):
    """Out of bounds where NumPy raises, in every kind of indexing."""
    grid = np.arange(16.0, dtype=f32).reshape(4, 4)
    kinds = [
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x[dnp.stack([i, i * 0])],
        lambda x, i: x[i * 0, i],
        lambda x, i: x[dnp.stack([i, i]), :2],
        lambda x, i: x.at[i].set(0),
        lambda x, i: x.at[:, dnp.stack([i, i * 0])].add(1),
        lambda x, i: x.at[i, 0].multiply(2),
        lambda x, i: x.at[i].subtract(1),
        lambda x, i: x.at[:, i].min(1),
        lambda x, i: x.at[i].max(1),
        lambda x, i: x.at[i].apply(dnp.sin),
    ]
    for f in kinds:
        g = dovetail.jit(checked(f, automatic=["index"]))
        assert (g(grid, np.int32(i))[0].get() is None) == (-4 <= i < 4)
    inside = lambda x, i: lax.fori_loop(0, 2, lambda n, k: k + x[i + n, 0], f32(0))  # noqa: E731
    error, _ = checked(inside, automatic=["index"])(grid, np.int32(i))
    assert (error.get() is None) == all(-4 <= i + n < 4 for n in (0, 1))


def test_functions_with_rules_of_their_own_keep_them():
    @dovetail.custom_jvp
    def f(x):
        return dnp.log(x)

    f.defjvp(lambda p, t: (f(*p), 10 * t[0]))
    g = checked(f, automatic=["nan"])
    assert dovetail.grad(lambda x: g(x)[1])(f32(2)) == 10
    assert message(g(f32(-2))[0]) == "NaN in a result of log"


def test_errors():
    with pytest.raises(ValueError, match=r"automatic='zero' is none of nan, division, index"):
        checked(walk, automatic=["zero"])
    with pytest.raises(TypeError, match=r"check at .*py:\d+.* takes booleans, got f32\[\]"):
        check(f32(3), "x")
