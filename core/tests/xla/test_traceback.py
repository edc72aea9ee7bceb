"""Source locations from the C++ stack walk."""

from __future__ import annotations

import traceback as python_traceback

import pytest

from dovetail_core.xla import traceback


@pytest.fixture(autouse=True)
def switched_on():
    """Plugins switch tracebacks off in processes that run programs."""
    traceback.set_tracebacks_enabled(True)


def _here():
    return traceback.current_traceback()


def test_frames_name_file_function_and_line_innermost_first():
    frames = traceback.frames(_here())
    assert [f.function_name for f in frames[:2]] == [
        "_here",
        "test_frames_name_file_function_and_line_innermost_first",
    ]
    assert frames[0].file_name == __file__
    assert frames[0].line_num == _here.__code__.co_firstlineno + 1


def test_a_python_traceback_can_be_given_to_an_exception():
    with pytest.raises(ValueError) as raised:
        raise ValueError("late").with_traceback(traceback.python_traceback(_here()))
    names = [frame.name for frame in python_traceback.extract_tb(raised.value.__traceback__)]
    assert names[-1] == "_here"


def test_switched_off_there_is_none():
    traceback.set_tracebacks_enabled(False)
    try:
        found = _here()
    finally:
        traceback.set_tracebacks_enabled(True)
    assert found is None
    assert traceback.frames(found) == []
