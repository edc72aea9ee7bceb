"""Named axes in scope."""

from __future__ import annotations

import pytest

from dovetail_core import axis_env, axis_size_of, bound_axis


def test_axes_nest_and_end():
    with bound_axis("i", 3):
        with bound_axis("j", 2), bound_axis("i", 5):
            assert axis_size_of("i") == 5 and axis_size_of("j") == 2
        assert axis_env() == (("i", 3),)
    assert axis_env() == ()


def test_one_axis_may_be_bound_twice():
    axis = bound_axis("i", 3)
    with bound_axis("i", 2):
        with axis, axis:
            assert axis_env() == (("i", 3),)
        assert axis_env() == (("i", 2),)
    assert axis_env() == ()


def test_an_axis_without_a_name_binds_nothing():
    with bound_axis(None, 3):
        assert axis_env() == ()


def test_an_error_for_an_axis_that_is_not_bound():
    with bound_axis("i", 3), pytest.raises(NameError) as e:
        axis_size_of("k")
    first, last = str(e.value).split(" at ")
    assert first == "axis name 'k' is not bound here (in scope: 'i')"
    assert "test_axes.py" in last
    assert last.endswith(". Call the function under vmap(..., axis_name='k').")
