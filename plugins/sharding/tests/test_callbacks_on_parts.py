"""Python functions called on the parts of arrays: by each device, or by one of a group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P, debug, lax, shard_map
from dovetail.experimental import io_callback

X = np.arange(16, dtype=np.float32).reshape(8, 2)
Y = np.arange(8, dtype=np.float32)


@pytest.fixture
def seen():
    """A list, and a function that adds its arguments to it."""
    result: list[Any] = []
    return result, lambda *xs: result.append([np.asarray(x).tolist() for x in xs])


@pytest.fixture
def run():
    def run(f, *args):
        out = dt.block_until_ready(dt.jit(f)(*args))
        dt.effects_barrier()
        return out

    return run


def _blocks() -> list[Any]:
    """The parts of ``X`` over ``x, y`` beside those of ``Y`` over ``y``."""
    return [
        [X[2 * i : 2 * i + 2, j : j + 1].tolist(), Y[4 * j : 4 * j + 4].tolist()]
        for i in range(4)
        for j in range(2)
    ]


@pytest.mark.parametrize("kind", ["mesh", "explicit"])
def test_each_device_calls_it_on_its_parts(request, run, seen, kind):
    mesh = request.getfixturevalue(kind)
    x = dt.device_put(X, NamedSharding(mesh, P("x", "y")))
    y = dt.device_put(Y, NamedSharding(mesh, P("y")))
    calls, call = seen

    def f(x, y):
        debug.callback(call, x, y, partitioned=True)
        return x * 2

    np.testing.assert_array_equal(run(f, x, y), X * 2)
    assert sorted(calls) == sorted(_blocks())


def test_parts_of_what_is_computed_in_loops_and_derivatives(mesh, run, seen):
    x = dt.device_put(X, NamedSharding(mesh, P("x")))
    calls, call = seen

    def step(c, _):
        debug.callback(call, c @ np.ones((2, 3), np.float32), partitioned=True)
        return c + 1, None

    run(lambda x: lax.scan(step, x, None, length=3)[0], x)
    assert len(calls) == 24 and {np.shape(c) for c in calls} == {(1, 2, 3)}
    calls.clear()

    def loss(x):
        debug.callback(call, x, partitioned=True)
        return (x**2).sum()

    np.testing.assert_array_equal(run(dt.grad(loss), x), 2 * X)
    assert sorted(calls) == sorted([[X[2 * i : 2 * i + 2].tolist()] for i in range(4)] * 2)


def test_printed_lines_are_whole(mesh, run, capfd):
    x = dt.device_put(Y, NamedSharding(mesh, P(("x", "y"))))
    run(lambda x: debug.print("part {}", x, partitioned=True), x)
    assert sorted(capfd.readouterr().out.splitlines()) == [f"part [{i}.]" for i in range(8)]


def test_one_device_and_at_rest(mesh, run, seen):
    calls, call = seen

    def f(x):
        debug.callback(call, x, partitioned=True, ordered=True)
        return x

    run(f, Y)
    f(dt.device_put(Y, NamedSharding(mesh, P("x"))))
    assert calls == [[Y.tolist()]] * 2
    text = dt.jit(f).lower(Y).as_text()
    assert "xla_ffi_python_cpu_callback" in text and "partitioned" not in text


def test_parts_have_no_order(mesh, run):
    x = dt.device_put(Y, NamedSharding(mesh, P("x")))

    def f(x):
        debug.callback(print, x, partitioned=True, ordered=True)

    with pytest.raises(
        ValueError, match=r"debug\.callback of print at .* is ordered, and is called"
    ):
        run(f, x)


@pytest.mark.parametrize("partitioned", [False, True])
def test_one_of_a_group_that_shares_a_part(mesh, run, seen, partitioned):
    calls, call = seen

    def body(x):
        def step(_, x):
            debug.callback(call, x, partitioned=partitioned)
            return x + 1

        return lax.fori_loop(0, 2, step, x)

    f = shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    x = dt.device_put(X, NamedSharding(mesh, P("x", "y")))
    np.testing.assert_array_equal(run(f, x), X + 2)
    parts = [X[2 * i : 2 * i + 2] for i in range(4)]
    assert sorted(calls) == sorted([(p + k).tolist()] for p in parts for k in range(2))


def test_effects_on_groups(mesh, run, seen):
    calls, call = seen

    def mapped(f):
        return shard_map(
            f, mesh=mesh, in_specs=P("y"), out_specs=P("y"), axis_names={"y"}, check_vma=False
        )

    def nothing(x):
        io_callback(lambda x: call(x), None, x)
        return x

    run(mapped(nothing), X)
    assert sorted(calls) == [[X[:4].tolist()], [X[4:].tolist()]]
    like = dt.ShapeDtypeStruct((4, 2), np.float32)
    for what, text in (({}, "has results"), ({"ordered": True}, "is ordered")):
        with pytest.raises(NotImplementedError, match=f"{text}, in a shard_map over some of"):
            run(mapped(lambda x: io_callback(lambda x: x, like, x, **what)), X)  # noqa: B023


def test_the_text_of_a_program_says_it(mesh):
    program = dt.make_jaxpr(lambda x: debug.callback(print, x, partitioned=True))(1.0)
    assert "partitioned=True" in str(program)
