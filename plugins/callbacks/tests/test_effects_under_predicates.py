"""Effects under a predicate that is mapped: they must not happen where they would not have, but for
those that only show values, which show those of all elements."""

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


def test_a_callback_in_a_loop_that_some_elements_leave_early() -> None:
    seen: list[float] = []

    def body(x: Any) -> Any:
        io_callback(lambda v: seen.append(float(v)), None, x)
        return x * 2

    def f(x: Any) -> Any:
        return lax.while_loop(lambda x: x < 5.0, body, x)

    text = r"has an effect, .*, under a predicate .*: it also runs after some elements are done"
    with pytest.raises(NotImplementedError, match=text):
        vmap(f)(XS)
    assert seen == []


def test_a_predicate_that_is_not_mapped_is_no_obstacle() -> None:
    seen: list[float] = []

    def say(x: Any) -> Any:
        debug.callback(lambda v: seen.append(float(v)), x)
        return x * 2

    result = vmap(lambda x: lax.cond(True, say, lambda x: x, x))(XS)
    np.testing.assert_array_equal(result, XS * 2)
    assert sorted(seen) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("ordered", [False, True])
def test_debugging_output_of_all_branches_under_a_mapped_predicate(ordered: bool) -> None:
    seen: list[tuple[str, float]] = []

    def branch(name: str) -> Any:
        def say(x: Any) -> Any:
            debug.callback(lambda v: seen.append((name, float(v))), x, ordered=ordered)
            return x * 2 if name == "yes" else x

        return say

    result = vmap(lambda x: lax.cond(x > 1.5, branch("yes"), branch("no"), x))(XS)
    effects_barrier()
    np.testing.assert_array_equal(result, [1.0, 4.0, 6.0])
    assert sorted(seen) == sorted((name, float(x)) for name in ("yes", "no") for x in XS)


@pytest.mark.parametrize("compiled", [False, True])
def test_debugging_output_of_a_loop_until_its_last_element_is_done(compiled: bool) -> None:
    seen: list[float] = []

    def body(x: Any) -> Any:
        debug.callback(lambda v: seen.append(float(v)), x)
        return x * 2

    mapped = vmap(lambda x: lax.while_loop(lambda x: x < 5.0, body, x))
    result = (jit(mapped) if compiled else mapped)(XS)
    effects_barrier()
    np.testing.assert_array_equal(result, [8.0, 8.0, 6.0])
    # Three passes, as the first element needs: those that are done keep what they have.
    assert sorted(seen) == sorted([1.0, 2.0, 4.0, 2.0, 4.0, 8.0, 3.0, 6.0, 6.0])
