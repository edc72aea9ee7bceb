"""Collectives over mapped axes, against NumPy on the whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, hessian, jvp
from dovetail_ad.test_util import check_grads
from dovetail_backends.testing import evaluated_by_reference
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

M = np.sin(np.arange(24.0)).reshape(2, 3, 4).astype(np.float32)
Q = np.cos(np.arange(27.0)).reshape(3, 3, 3).astype(np.float32)
N = np.arange(12, dtype=np.int32).reshape(3, 4)


@pytest.fixture(autouse=True)
def evaluation() -> Iterator[None]:
    """By NumPy, which need not compile; what is compiled is so where ``jit`` is asked."""
    with evaluated_by_reference():
        yield


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def one(f: Callable[[Any], Any], x: Any) -> Any:
    return vmap(f, axis_name="i")(x)


def two(f: Callable[[Any], Any]) -> Any:
    return vmap(vmap(f, axis_name="j"), axis_name="i")(M)


def close(result: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(
        result, np.broadcast_to(expected, result.shape), rtol=2e-5, atol=1e-6
    )


INDEX = np.arange(3) + 3 * np.arange(2)[:, None]
NESTED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "psum of both": (lambda x: lax.psum(x, ("i", "j")), M.sum((0, 1))),
    "psum of the outer": (lambda x: lax.psum(x, "i"), M.sum(0)),
    "psum of the inner": (lambda x: lax.psum(x, "j"), M.sum(1, keepdims=True)),
    "pmean of both": (lambda x: lax.pmean(x, ("i", "j")), M.mean((0, 1))),
    "pmax of both": (lambda x: lax.pmax(x, ("i", "j")), M.max((0, 1))),
    "pmin of the inner": (lambda x: lax.pmin(x, "j"), M.min(1, keepdims=True)),
    "index": (lambda x: lax.axis_index(("i", "j")), INDEX),
    "index, the other way": (
        lambda x: lax.axis_index(("j", "i")),
        np.arange(3) * 2 + np.arange(2)[:, None],
    ),
    "gathered outer": (lambda x: lax.all_gather(x, "i"), np.moveaxis(M, 0, 1)),
    "gathered inner, last": (
        lambda x: lax.all_gather(x, "j", axis=-1),
        np.moveaxis(M, 1, 2)[:, None],
    ),
    "gathered and tiled": (
        lambda x: lax.all_gather(x, "i", tiled=True),
        np.moveaxis(M, 0, 1).reshape(3, 8),
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_over_nested_axes(name: str) -> None:
    f, expected = NESTED[name]
    close(two(f), expected)
    close(jit(two, static_argnums=0)(f), expected)


def test_sizes_and_sums_of_python_numbers_are_python_numbers() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen[:] = [lax.axis_size(("i", "j")), lax.psum(2, ("i", "j")), lax.pmean(3, "j")]
        return x

    two(f)
    assert seen == [6, 12, 3.0]


def test_element_types() -> None:
    np.testing.assert_array_equal(one(lambda x: lax.psum(x, "i"), N)[0], N.sum(0))
    assert one(lambda x: lax.psum(lax.gt(x, np.int32(3)), "i"), N).dtype == np.int32
    result = one(lambda x: lax.pmean(x, "i"), N)
    assert result.dtype == np.float32
    close(result, N.mean(0))
    with enable_x64(True):
        assert one(lambda x: lax.pmean(x, "i"), N).dtype == np.float64
    assert one(lambda x: lax.pmean(x, "i"), np.ones(3, np.float16)).dtype == np.float16
    tree = one(lambda x: lax.pmin({"a": x, "b": (lax.neg(x),)}, "i"), N)
    np.testing.assert_array_equal(tree["b"][0][0], -N.max(0))


@pytest.mark.parametrize("split", [0, 1])
@pytest.mark.parametrize("concat", [0, 1])
def test_all_to_all(split: int, concat: int) -> None:
    """Position i's slice j goes to position j, where it is slice i."""
    expected = np.stack(
        [np.stack([np.take(Q[i], j, split) for i in range(3)], concat) for j in range(3)]
    )
    close(one(lambda x: lax.all_to_all(x, "i", split, concat), Q), expected)
    tiled = np.stack(
        [np.concatenate([np.take(Q[i], [j], split) for i in range(3)], concat) for j in range(3)]
    )
    close(one(lambda x: lax.all_to_all(x, "i", split, concat, tiled=True), Q), tiled)
    f = lambda q: total(  # noqa: E731
        lax.mul(one(lambda x: lax.all_to_all(lax.sin(x), "i", split, concat), q), Q)
    )
    check_grads(f, (Q,), 1)


def test_permutations_and_scattered_sums() -> None:
    sent = one(lambda x: lax.ppermute(x, "i", [(0, 2), (2, 1)]), N)
    np.testing.assert_array_equal(sent, np.stack([np.zeros(4), N[2], N[0]]))
    np.testing.assert_array_equal(one(lambda x: lax.pshuffle(x, "i", [2, 0, 1]), N), N[[2, 0, 1]])
    close(one(lambda x: lax.pswapaxes(x, "i", 1), Q), np.swapaxes(Q, 0, 2))
    close(one(lambda x: lax.psum_scatter(x, "i"), Q), Q.sum(0))
    close(one(lambda x: lax.psum_scatter(x, "i", scatter_dimension=1), Q), Q.sum(0).T)
    close(one(lambda x: lax.psum_scatter(x, "i", tiled=True), Q), Q.sum(0)[:, None])


R = np.arange(2 * 3 * 6 * 4, dtype=np.float32).reshape(2, 3, 6, 4)


def over_both(f: Callable[[Any], Any], x: Any = R) -> Any:
    return np.asarray(vmap(vmap(f, axis_name="j"), axis_name="i")(x))


@pytest.mark.parametrize("names", [("i", "j"), ("j", "i")])
@pytest.mark.parametrize("tiled", [False, True])
def test_several_names_are_one_axis(names: tuple[str, str], tiled: bool) -> None:
    """Row-major: the collective over both is that over one axis of both."""
    first, second = (R.shape["ij".index(n)] for n in names)
    turn = (0, 1) if names == ("i", "j") else (1, 0)
    flat = np.moveaxis(R, turn, (0, 1)).reshape(6, 6, 4)

    def check(f: Callable[[Any, Any], Any]) -> None:
        wanted = np.asarray(one(lambda x: f(x, "i"), flat))
        wanted = np.moveaxis(wanted.reshape(first, second, *wanted.shape[1:]), (0, 1), turn)
        np.testing.assert_array_equal(over_both(lambda x: f(x, names)), wanted)
        with enable_x64(True):
            check_grads(lambda q: total(lax.sin(two_of(f, q))), (R / 50.0,), 1)

    def two_of(f: Callable[[Any, Any], Any], x: Any) -> Any:
        return vmap(vmap(lambda v: f(v, names), axis_name="j"), axis_name="i")(x)

    check(lambda x, n: lax.all_to_all(x, n, 0, 1, tiled=tiled))
    check(lambda x, n: lax.all_to_all(x, n, 0, 0, tiled=tiled))
    check(lambda x, n: lax.all_gather(x, n, axis=1, tiled=tiled))
    check(lambda x, n: lax.psum_scatter(x, n, tiled=tiled))
    check(lambda x, n: lax.pswapaxes(x, n, 0))
    check(lambda x, n: lax.ppermute(x, n, [(0, 1), (1, 5), (4, 0)]))
    check(lambda x, n: lax.pshuffle(x, n, [5, 1, 0, 2, 3, 4]))
    check(lambda x, n: lax.pmean(x, n))


def test_python_numbers_are_gathered_and_sent() -> None:
    def f(x: Any) -> Any:
        return lax.all_gather(2.0, "i"), lax.ppermute(1, "i", [(0, 2)]), lax.psum(True, "i")

    gathered, sent, count = (np.asarray(v) for v in one(f, N))
    assert gathered.tolist() == [[2.0] * 3] * 3 and sent.tolist() == [0, 0, 1]
    assert count.tolist() == [3] * 3 and count.dtype == np.int32


def test_elements_exchanged_over_two_axes() -> None:
    """Slice (i, j) of what position (k, l) has is slice (k, l) of what (i, j) gets."""
    got = over_both(lambda x: lax.all_to_all(x, ("i", "j"), 0, 0))
    parts = R.reshape(2, 3, 2, 3, 4)
    np.testing.assert_array_equal(got.reshape(2, 3, 2, 3, 4), parts.transpose(2, 3, 0, 1, 4))


ERRORS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: lax.psum(x, ("i", "i")), r"names an axis twice: \('i', 'i'\) at .*test_collect"),
    (lambda x: lax.all_to_all(x, ("i", "j"), 1, 0), r"all_to_all: axis 1 has length 4, .* is not "),
    (lambda x: lax.all_to_all(x, "j", 2, 0), "split_axis 2 is out of bounds for an array with 2"),
    (lambda x: lax.all_gather(x, "j", axis=3), "all_gather: axis 3 is out of bounds"),
    (lambda x: lax.psum_scatter(x, "j"), "psum_scatter: axis 0 has length 6, which is not the le"),
    (lambda x: lax.psum_scatter(x, ("i", "j"), scatter_dimension=1, tiled=True),
     r"psum_scatter: axis 1 has length 4, which is not divisible by the length 6 of \('i', 'j'\)"),
    (lambda x: lax.ppermute(x, ("i", "j"), [(0, 6)]), "a destination outside of 0..5"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "text"), ERRORS)
def test_errors(f: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        over_both(f)


DIFFERENTIABLE: dict[str, Callable[[Any], Any]] = {
    "psum": lambda x: lax.mul(lax.psum(lax.sin(x), "i"), x),
    "pmean": lambda x: lax.mul(lax.pmean(lax.sin(x), "i"), x),
    "pmax": lambda x: lax.mul(lax.pmax(x, "i"), x),
    "pmin": lambda x: lax.mul(lax.pmin(lax.exp(x), "i"), x),
    "ppermute": lambda x: lax.mul(lax.ppermute(lax.sin(x), "i", [(0, 2), (2, 1)]), x),
    "all_gather": lambda x: lax.mul(total(lax.exp(lax.all_gather(x, "i", axis=1))), x),
    "psum_scatter": lambda x: lax.psum_scatter(lax.sin(x), "i"),
    "scan": lambda x: lax.scan(lambda c, _: (lax.sin(lax.psum(c, "i")), c), x, length=2)[0],
    "cond": lambda x: lax.cond(lax.gt(lax.axis_index("i"), 0), lax.sin, lax.exp, lax.psum(x, "i")),
    "jit": lambda x: jit(lambda y: lax.psum(lax.sin(y), "i"))(x),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name: str) -> None:
    f = DIFFERENTIABLE[name]
    with enable_x64(True):
        check_grads(lambda q: one(f, q), (Q.astype(np.float64),), 1)


def test_derivatives_inside_of_the_mapped_function() -> None:
    """There a sum's gradient collects the cotangents of all positions."""
    close(one(grad(lambda x: lax.psum(total(lax.mul(x, x)), "i")), Q), 3 * 2 * Q)
    close(one(grad(lambda x: lax.pmean(total(lax.mul(x, x)), "i")), Q), 2 * Q)
    y, t = one(lambda x: jvp(lambda v: lax.psum(lax.mul(v, v), "i"), (x,), (x,)), Q)
    close(y, (Q * Q).sum(0))
    close(t, 2 * (Q * Q).sum(0))


def test_second_derivatives() -> None:
    x = np.arange(3.0, dtype=np.float32)
    result = hessian(lambda q: total(one(lambda v: lax.mul(lax.psum(lax.mul(v, v), "i"), v), q)))(x)
    # f = (sum x²) (sum x): the Hessian is 2 (sum x) I + 2 (x 1ᵀ + 1 xᵀ).
    close(result, 2 * x.sum() * np.eye(3) + 2 * np.add.outer(x, x))


def test_numbers_among_the_names_are_axes_of_the_array() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    both = vmap(lambda v: lax.psum(v, (0, "i")), axis_name="i")
    np.testing.assert_allclose(both(x), np.broadcast_to(x.sum((0, 1)), (2, 4)))
    for collective, reduced in (
        (lax.psum, np.sum),
        (lax.pmax, np.max),
        (lax.pmin, np.min),
        (lax.pmean, np.mean),
    ):
        np.testing.assert_allclose(collective(x, 1), reduced(x, 1))
        np.testing.assert_array_equal(collective(x, ()), x)
        named = vmap(lambda v, f=collective: f(v, ("i", 1)), axis_name="i")(x)
        np.testing.assert_allclose(named, np.broadcast_to(reduced(x, (0, 2)), (2, 3)))


def test_the_position_along_no_axes_is_zero() -> None:
    np.testing.assert_array_equal(one(lambda x: lax.add(x, lax.axis_index(())), N), N)
    np.testing.assert_array_equal(one(lambda x: lax.add(x, lax.axis_index([])), N), N)


def test_what_is_gathered_varies() -> None:
    result = one(lambda x: lax.all_gather(x, "i", to="varying"), N)
    np.testing.assert_array_equal(result, np.broadcast_to(N, (3, 3, 4)))
    with pytest.raises(ValueError, match=r"to='same' is unknown at .*test_collectives.*'varying'"):
        one(lambda x: lax.all_gather(x, "i", to="same"), N)
    for to in ("invarying", "reduced"):
        message = rf"to='{to}' is for programs on several devices.*test_coll.*Leave it out"
        with pytest.raises(NotImplementedError, match=message):
            one(lambda x: lax.all_gather(x, "i", to=to), N)  # noqa: B023


def test_over_no_axes() -> None:
    """Over no axis there is one position: nothing is joined, moved or added."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    calls: list[Callable[[Any], Any]] = [
        lambda v: lax.all_gather(v, ()),
        lambda v: lax.all_gather(v, (), tiled=True),
        lambda v: lax.psum(v, ()),
        lambda v: lax.ppermute(v, (), [(0, 0)]),
        lambda v: {"a": lax.all_gather({"a": v}, (), axis=0)["a"]}["a"],
    ]
    for f in calls:
        for run in (f, jit(f)):
            np.testing.assert_array_equal(vmap(run, axis_name="i")(x), x)
        slope = vmap(grad(lambda v, f=f: f(v).sum()), axis_name="i")(x)
        np.testing.assert_array_equal(slope, np.ones_like(x))
    none = vmap(lambda v: lax.ppermute(v, (), []), axis_name="i")(x)
    np.testing.assert_array_equal(none, np.zeros_like(x))
