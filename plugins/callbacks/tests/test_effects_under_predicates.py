"""Effects under a predicate that is mapped: they must not happen where they would not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_callbacks import debug
from dovetail_callbacks.experimental import io_callback
from dovetail_jit import effects_barrier, jit

XS = np.array([1.0, 2.0, 3.0], np.float32)


def test_a_callback_in_a_branch_under_a_mapped_index() -> None:
    seen: list[float] = []

    def say(x: Any) -> Any:
        io_callback(lambda v: seen.append(float(v)), None, x, ordered=True)
        return x * 2

    def f(x: Any, p: Any) -> Any:
        return lax.cond(p, say, lambda x: x, x)

    text = r"has an effect, .*, under an index or predicate .*: all of its branches run"
    with pytest.raises(TypeError, match=text):
        vmap(f, (None, 0))(XS[0], XS > 1.5)
    assert seen == []


def test_debugging_output_in_a_branch_tells_of_the_elements_that_take_it() -> None:
    seen: list[Any] = []

    def say(name: str, x: Any) -> Any:
        debug.callback(lambda v: seen.append((name, float(v))), x)
        return x * 2

    def inner(x: Any) -> Any:
        return lax.cond(x > 2.5, lambda x: say("large", x), lambda x: x, x)

    def f(x: Any) -> Any:
        return lax.cond(x > 1.5, inner, lambda x: say("small", x), x)

    for g in vmap(f), jit(vmap(f)), vmap(jit(f)):
        np.testing.assert_array_equal(g(XS), np.array([2, 2, 6], np.float32))
        effects_barrier()
        assert sorted(seen) == [("large", 3.0), ("small", 1.0)]
        seen.clear()


def test_debugging_output_in_a_loop_tells_of_the_elements_that_are_not_done() -> None:
    seen: list[float] = []

    def body(x: Any) -> Any:
        debug.callback(lambda v: seen.append(float(v)), x)
        return x * 2

    np.testing.assert_array_equal(
        vmap(lambda x: lax.while_loop(lambda x: x < 5.0, body, x))(XS), [8.0, 8.0, 6.0]
    )
    effects_barrier()
    assert sorted(seen) == [1.0, 2.0, 2.0, 3.0, 4.0, 4.0]


def test_a_callback_in_a_loop_that_some_elements_leave_early() -> None:
    seen: list[float] = []

    def body(x: Any) -> Any:
        io_callback(lambda v: seen.append(float(v)), None, x)
        return x * 2

    def f(x: Any) -> Any:
        return lax.while_loop(lambda x: x < 5.0, body, x)

    text = r"has an effect, .*, under a predicate .*: it also runs after some elements are done"
    with pytest.raises(TypeError, match=text):
        vmap(f)(XS)
    assert seen == []


def test_a_predicate_that_is_not_mapped_is_no_obstacle() -> None:
    seen: list[float] = []

    def say(x: Any) -> Any:
        debug.callback(lambda v: seen.append(float(v)), x)
        return x * 2

    found = vmap(lambda x: lax.cond(True, say, lambda x: x, x))(XS)
    np.testing.assert_array_equal(found, XS * 2)
    assert sorted(seen) == [1.0, 2.0, 3.0]
