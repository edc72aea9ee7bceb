"""Annotations of operations: they come with the source location, and are gone with their scope."""

from __future__ import annotations

import subprocess
import sys

from dovetail_base.source import backward
from dovetail_base.source_info import annotate, annotations_of, are_used
from dovetail_core import current_source, named_scope
from dovetail_xla.config import trace_context


def found():
    return dict(annotations_of(current_source()))


def test_scopes_add_up_and_end():
    before = trace_context()
    with annotate({"a": "1", "b": "2"}):
        assert are_used() and found() == {"a": "1", "b": "2"}
        inside = trace_context()
        with annotate({"a": None, "c": "3"}), named_scope("part"):
            assert found() == {"b": "2", "c": "3"}
            source = current_source()
            assert source is not None and source.scope == "part"
            assert annotations_of(backward(source, "", "")) == {"b": "2", "c": "3"}
        assert found() == {"a": "1", "b": "2"} and trace_context() == inside != before
    assert found() == {} and trace_context() == before


def test_only_annotations_that_are_there_count_as_used():
    script = """
from dovetail_base.source_info import annotate, are_used
with annotate({"a": None}):
    assert not are_used()
with annotate({"a": "1"}):
    pass
assert are_used()
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_decorated_functions():
    assert annotate({"x": "y"})(found)() == {"x": "y"}
    assert annotations_of(None) == {}
