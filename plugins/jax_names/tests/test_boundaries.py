"""Functions that a library calls boundaries: what is left of tracebacks that leave them."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import walk_tb
from typing import Any

import pytest

import dovetail
from dovetail_base.source import is_hidden
from dovetail_core import config
from dovetail_jax_names.private.traceback_util import UnfilteredStackTrace, api_boundary


def fails(x: Any) -> Any:
    raise ValueError("wrong") from KeyError("the reason")


inner = api_boundary(lambda x: dovetail.jit(fails)(x))


@api_boundary
def outer(x: Any) -> Any:
    """Calls another one."""
    return inner(x)


def raised() -> ValueError:
    with pytest.raises(ValueError, match="wrong") as caught:
        outer(1.0)
    return caught.value


def frames(error: BaseException) -> list[bool]:
    """Whether each frame is hidden, this file's functions included."""
    return [is_hidden(frame) for frame, _ in walk_tb(error.__traceback__)]


@pytest.fixture
def filtering() -> Iterator[Any]:
    before = config.read("traceback_filtering")
    yield lambda mode: config.update("traceback_filtering", mode)
    config.update("traceback_filtering", before)


def test_all_frames_stay_unless_the_option_is_set() -> None:
    error = raised()
    assert sum(frames(error)) > 3 and isinstance(error.__cause__, KeyError)
    assert outer.__name__ == "outer" and outer.__doc__ == "Calls another one."


def test_frames_are_removed_once(filtering: Any) -> None:
    filtering("remove_frames")
    error = raised()
    assert frames(error) == [False] * 4  # raised, outer, the lambda, fails
    whole = error.__cause__
    assert isinstance(whole, UnfilteredStackTrace) and sum(frames(whole)) > 3
    assert isinstance(whole.__cause__, KeyError)


def test_frames_are_removed_quietly(filtering: Any) -> None:
    filtering("quiet_remove_frames")
    error = raised()
    assert frames(error) == [False] * 4 and isinstance(error.__cause__, KeyError)
    (note,) = error.__notes__
    assert "frames left out" in note


def test_frames_are_marked(filtering: Any) -> None:
    filtering("tracebackhide")
    error = raised()
    marked = ["__tracebackhide__" in f.f_locals for f, _ in walk_tb(error.__traceback__)]
    assert marked == frames(error) and sum(marked) > 3
