"""Policies beyond yes and no: moving values to another memory, and answers that make no sense."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.ad_checkpoint import (
    Offloadable,
    Recompute,
    Saveable,
    checkpoint_name,
    checkpoint_policies as policies,
    saved_residuals,
)
from dovetail_backends.testing import evaluated_by_reference

W = np.array([[0.3, -0.5], [0.7, 0.2]], np.float32)
X = np.array([0.4, -0.8], np.float32)
MOVED = {"offload_src": "device", "offload_dst": "pinned_host"}


def f(w: Any, x: Any) -> Any:
    x = checkpoint_name(dnp.tanh(w @ x), "a")
    x = checkpoint_name(dnp.sin(w @ x), "b")
    return dnp.sum(dnp.tanh(w @ x))


def some(saved: Any, offloaded: Any) -> Any:
    return policies.save_and_offload_only_these_names(
        names_which_can_be_saved=saved, names_which_can_be_offloaded=offloaded, **MOVED
    )


OFFLOADING = {
    "names": some(["a"], ["b"]),
    "all names": some([], ["a", "b"]),
    "dots": policies.offload_dot_with_no_batch_dims(**MOVED),
    "own": lambda prim, *avals, **params: (
        Offloadable("device", "pinned_host") if prim.name == "tanh" else Recompute
    ),
    "both": policies.save_from_both_policies(some([], ["b"]), policies.dots_saveable),
}


@pytest.mark.parametrize("policy", OFFLOADING.values(), ids=OFFLOADING)
def test_moving_values_changes_nothing_but_where_they_are(policy: Any) -> None:
    expected = dovetail.grad(f, (0, 1))(W, X)
    g = dovetail.grad(dovetail.remat(f, policy=policy), (0, 1))
    for result in (g(W, X), dovetail.jit(g)(W, X)):
        for got, want in zip(result, expected):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)
    rows = np.stack([X, 2 * X])
    batched = dovetail.vmap(g, (None, 0))(W, rows)[1]
    np.testing.assert_allclose(batched[0], expected[1], rtol=2e-5, atol=1e-6)
    h = dovetail.hessian(lambda x: dovetail.remat(f, policy=policy)(W, x))(X)
    np.testing.assert_allclose(h, dovetail.hessian(lambda x: f(W, x))(X), rtol=1e-4, atol=1e-6)


def test_values_go_and_come_back() -> None:
    """In the first pass to the other memory; back where the second pass begins."""
    g = dovetail.grad(dovetail.remat(f, policy=OFFLOADING["names"]))
    text = str(dovetail.make_jaxpr(g)(W, X))
    assert text.count("place[src='device' dst='pinned_host']") == 1
    assert text.count("place[src='pinned_host' dst='device']") == 1
    assert text.index("dst='pinned_host'") < text.index("dst='device'")


def test_platforms_with_several_memories_get_placements() -> None:
    g = dovetail.jit(dovetail.grad(dovetail.remat(f, policy=OFFLOADING["names"])))
    there = g.trace(W, X).lower(lowering_platforms=["cuda"]).as_text()
    calls = [line for line in there.splitlines() if "@annotate_device_placement" in line]
    assert len(calls) == 2 and all("has_side_effect = true" in c for c in calls)
    assert '_xla_buffer_placement = "pinned_host"' in calls[0]
    assert '_xla_buffer_placement = "device"' in calls[1]
    assert "annotate_device_placement" not in g.lower(W, X).as_text(), "the CPU has one memory"


def test_what_is_kept_where_two_policies_speak() -> None:
    policy = policies.save_from_both_policies(some([], ["b"]), policies.dots_saveable)
    records = saved_residuals(dovetail.remat(f, policy=policy), W, X)
    result = {(r.name, r.memory) for r in records if r.kind != "argument"}
    assert result == {("dot_general", ""), ("b", "pinned_host")}
    in_place = policies.save_from_both_policies(some([], ["b"]), some(["b"], []))
    records = saved_residuals(dovetail.remat(f, policy=in_place), W, X)
    assert {(r.name, r.memory) for r in records if r.kind == "name"} == {("b", "")}


def test_a_kept_name_spares_the_computation_of_the_value_itself() -> None:
    """``exp``'s derivative reads the value from before it was named: it is the same one."""
    policy = policies.save_only_these_names("a")
    g = dovetail.remat(lambda w, x: dnp.sum(checkpoint_name(dnp.exp(w @ x), "a")), policy=policy)
    text = str(dovetail.make_jaxpr(dovetail.grad(g))(W, X))
    assert text.count("= exp ") == 1 and text.count("= dot_general[") == 2, "one is backward"


def test_answers_may_be_spelled_in_every_way() -> None:
    def kept(answer: Any) -> int:
        policy = lambda prim, *avals, **params: answer if prim.name == "sin" else False  # noqa: E731
        h = dovetail.remat(lambda x: dnp.sum(dnp.exp(dnp.sin(dnp.tanh(x)))), policy=policy)
        return len(saved_residuals(h, X))

    assert [kept(a) for a in (True, Saveable, np.True_, 1)] == [2] * 4
    assert [kept(a) for a in (False, Recompute, np.False_, None)] == [1] * 4


def test_only_some_arguments_stand_behind_the_barrier() -> None:
    def barrier(prevent_cse: Any) -> int:
        h = dovetail.remat(
            lambda d, x: dnp.sum(dnp.sin(dnp.exp(d["a"] * x * d["b"]))), prevent_cse=prevent_cse
        )
        g = dovetail.jit(dovetail.grad(h))
        text = g.lower({"a": X, "b": X}, X).as_text()
        lines = [line for line in text.splitlines() if "optimization_barrier" in line]
        return lines[0].count("tensor<2xf32>") if lines else 0

    assert barrier(True) == barrier((True, True)) == 3
    assert barrier((True, False)) == 2
    assert barrier(({"a": True, "b": False}, False)) == 1
    assert barrier(False) == barrier((False, False)) == 0


def test_misuse_is_named() -> None:
    with pytest.raises(ValueError, match=r"'a' cannot be both in names_which_can_be_saved and in"):
        some(["a", "b"], ["a"])
    with pytest.raises(TypeError, match=r"offload_dst names a memory, as 'pinned_host', got None"):
        policies.offload_dot_with_no_batch_dims("device", None)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"prevent_cse must be a bool or a tuple with an entry for"
    ):
        dovetail.remat(f, prevent_cse=(True, False, True))(W, X)
    strange = lambda *a, **k: np.zeros(2)  # noqa: E731
    with pytest.raises(TypeError, match=r"answered array.* for '\w+' at .*test_policies\.py:\d+"):
        dovetail.grad(dovetail.remat(f, policy=strange))(W, X)
    nowhere = policies.offload_dot_with_no_batch_dims("device", "attic")
    with pytest.raises(ValueError, match=r"kept in memory 'attic', but .* has .*device.*Name one"):
        dovetail.grad(dovetail.remat(f, policy=nowhere))(W, X)


def test_policies_reach_into_loops_whose_steps_are_checkpointed() -> None:
    step = dovetail.remat(
        lambda c, t: (dnp.exp(checkpoint_name(dnp.sin(c), "s")) * t, None),
        policy=policies.save_only_these_names("s"),
    )
    records = saved_residuals(
        lambda x: dnp.sum(lax.scan(step, x, np.ones((4, 2), np.float32))[0]), X
    )
    assert any(r.name == "s" and r.loop == ("scan",) for r in records)


# --- inside of loops ------------------------------------------------------------------------------


def loop(x: Any, ws: Any) -> Any:
    def step(c: Any, w: Any) -> Any:
        a = checkpoint_name(dnp.exp(w @ c), "a")  # its derivative needs the result alone
        return dnp.sin(a) * c, a

    c, ys = lax.scan(step, x, ws)
    return dnp.sum(c) + dnp.sum(ys**2)


def without_slices(x: Any, ws: Any) -> Any:
    """Nothing is sliced or stacked, and a loop is in the loop."""

    def step(c: Any, _: Any) -> Any:
        c = lax.scan(lambda d, _: (checkpoint_name(dnp.sin(ws[0] @ d), "a"), None), c, None, 2)[0]
        return dovetail.jit(lambda v: checkpoint_name(dnp.exp(-v), "b"))(c), None

    return dnp.sum(lax.scan(step, x, None, length=3)[0])


def branches(x: Any, ws: Any) -> Any:
    """A choice of three, one of which has a loop, in each step of a loop; another one after it."""

    def step(c: Any, i: Any) -> Any:
        runs = [
            lambda v: checkpoint_name(dnp.tanh(ws[0] @ dnp.sin(ws[1] @ v)), "a"),
            lambda v: v * checkpoint_name(dnp.sum(v), "b"),
            lambda v: lax.scan(lambda d, w: (checkpoint_name(dnp.sin(w @ d), "a"), d), v, ws)[0],
        ]
        return lax.switch(i, runs, c), None

    last = lax.scan(step, x, np.array([2, 0, 1, 0]))[0]
    layer = lambda v: dnp.exp(-checkpoint_name(dnp.tanh(ws[2] @ v), "a"))  # noqa: E731
    return dnp.sum(lax.cond(last[0] > 9, lambda v: v, layer, last))


INSIDE = {
    "names": policies.save_only_these_names("a"),
    "both names": policies.save_only_these_names("a", "b"),
    "dots": policies.dots_saveable,
    "everything": policies.everything_saveable,
    "offloaded": some(["b"], ["a"]),
}
WS = np.stack([W, W.T, -W, W @ W])


@cache
def wanted(f: Any) -> Any:
    with evaluated_by_reference():
        return dovetail.grad(f, (0, 1))(X, WS), dovetail.hessian(f)(X, WS)


@pytest.mark.parametrize("f", [loop, without_slices, branches])
@pytest.mark.parametrize("policy", INSIDE.values(), ids=INSIDE)
def test_policies_reach_into_loops(f: Any, policy: Any) -> None:
    slopes, curvature = wanted(f)
    g = dovetail.remat(f, policy=policy)
    with evaluated_by_reference():
        h = dovetail.hessian(g)(X, WS)
        ways = [dovetail.grad(g, (0, 1))(X, WS), dovetail.jit(dovetail.grad(g, (0, 1)))(X, WS)]
    for result in ways:
        for got, want in zip(result, slopes):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(h, curvature, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", [loop, without_slices, branches])
def test_second_derivatives_of_loops_with_policies_are_compiled(f: Any) -> None:
    h = dovetail.jit(dovetail.hessian(dovetail.remat(f, policy=INSIDE["offloaded"])))
    np.testing.assert_allclose(h(X, WS), wanted(f)[1], rtol=1e-4, atol=1e-5)


def test_what_is_kept_of_each_step_is_stacked_and_not_computed_again() -> None:
    g = dovetail.remat(loop, policy=INSIDE["names"])
    records = saved_residuals(g, X, WS)
    assert [(r.name, r.aval.str_short(), r.loop) for r in records if r.kind == "name"] == [
        ("a", "f32[4,2]", ("scan",))
    ]

    def products(f: Any) -> int:
        return str(dovetail.make_jaxpr(dovetail.grad(f))(X, WS)).count("dot_general[")

    assert products(dovetail.remat(loop)) == products(g) + 1, "the first pass, again, or not"


@pytest.mark.parametrize("taken", [True, False])
def test_what_is_kept_of_a_branch_is_not_computed_again(taken: bool) -> None:
    def layers(w: Any) -> Any:
        x = dnp.ones(2)
        for _ in range(3):
            x = dnp.sin(w @ x)
        return x

    def f(w: Any) -> Any:
        return dnp.sum(lax.cond(dnp.sum(w) > 0, layers, lambda w: w[0] * w[1], w))

    def operations(g: Any) -> list[int]:
        y, pull = dovetail.vjp(g, W)
        text = str(dovetail.make_jaxpr(pull)(y))
        return [text.count(f" {name}") for name in ("sin ", "cos ", "dot_general[")]

    w = W if taken else -W
    kept = dovetail.checkpoint(f, policy=policies.checkpoint_dots)
    np.testing.assert_allclose(dovetail.grad(kept)(w), dovetail.grad(f)(w), rtol=1e-6)
    np.testing.assert_allclose(dovetail.hessian(kept)(w), dovetail.hessian(f)(w), rtol=1e-5)
    # The last sine is not needed; each product has two transposes but the first, which has one.
    assert operations(kept) == [2, 3, 5]
    assert operations(dovetail.checkpoint(f)) == [2, 3, 8]


def test_values_kept_in_loops_can_be_moved() -> None:
    records = saved_residuals(dovetail.remat(loop, policy=INSIDE["offloaded"]), X, WS)
    assert [(r.name, r.memory) for r in records if r.kind == "name"] == [("a", "pinned_host")]


def test_a_name_of_an_argument_is_the_argument() -> None:
    g = dovetail.remat(
        lambda x: dnp.sum(dnp.sin(dnp.exp(checkpoint_name(x, "x")))),
        policy=policies.save_only_these_names("x"),
    )
    assert [r.kind for r in saved_residuals(g, X)] == ["argument"]
