"""Effects under a predicate that is mapped: they must not happen where they would not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_callbacks import debug
from dovetail_callbacks.experimental import io_callback

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
        debug.callback(lambda v: seen.append(float(v)), x)
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
