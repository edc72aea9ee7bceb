"""Tracers have the attributes of concrete arrays, which say that they are not known."""

from __future__ import annotations

import pytest

from dovetail_core import ConcretizationTypeError, ShapedArray, stage_closed

F32 = ShapedArray((), "float32")


@pytest.mark.parametrize("name", ["devices", "is_deleted", "__dlpack__", "unsafe_buffer_pointer"])
def test_methods_that_ask_where_an_array_is_fail_when_a_tracer_is_asked(name):
    def f(x):
        assert hasattr(x, name)
        getattr(x, name)()

    with pytest.raises(ConcretizationTypeError, match=rf"type f32\[\] .*is asked for its '{name}'"):
        stage_closed(f, [F32])


def test_attributes_that_say_where_an_array_is_fail_for_a_tracer():
    for name in ("addressable_shards", "committed", "is_fully_addressable"):
        with pytest.raises(ConcretizationTypeError, match=f"asked for its '{name}'"):
            stage_closed(lambda x: getattr(x, name), [F32])  # noqa: B023
