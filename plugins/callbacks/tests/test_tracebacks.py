"""The option ``traceback_filtering``: what Python and IPython show of uncaught exceptions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_callbacks import tracebacks
from dovetail_callbacks.tracebacks import traceback_filtering, without_frames
from dovetail_core import config
from dovetail_jit import jit

SCRIPT = """
import sys
import dovetail
import dovetail.numpy as dnp

dovetail.config.update("jax_traceback_filtering", sys.argv[1])

@dovetail.jit
def outer(x):
    try:
        return dnp.dot(x, dnp.ones(7))
    except TypeError as e:
        raise RuntimeError("because of that") from e

outer(dnp.ones(3))
"""


@pytest.fixture
def shown(tmp_path: Path) -> Any:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)

    def run(mode: str) -> str:
        command = [sys.executable, str(path), mode]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr

    return run


def test_frames_are_left_out(shown: Any) -> None:
    for mode in ("auto", "quiet_remove_frames"):
        text = shown(mode)
        assert "dovetail_" not in text and text.count("script.py") >= 4
        assert "direct cause" in text and "RuntimeError: because of that" in text
        *_, last = text.splitlines()
        assert last.endswith(" frames of Dovetail left out; traceback_filtering='off' shows all.)")


def test_everything_is_shown(shown: Any) -> None:
    for mode in ("off", "tracebackhide"):
        assert "dovetail_jit" in shown(mode) and "left out" not in shown(mode)
    whole, _, rest = shown("remove_frames").partition("The same without frames of Dovetail:")
    assert "dovetail_jit" in whole and "dovetail_" not in rest and "left out" in rest


def failing() -> BaseException:
    with pytest.raises(TypeError) as e:
        jit(lambda x: dnp.dot(x, np.ones(7)))(np.ones(3))
    return e.value


def test_groups_and_what_is_the_frameworks_alone() -> None:
    error = failing()
    text, count = without_frames(ExceptionGroup("two", [error, ValueError("other")]))
    assert count > 3 and "dovetail_" not in text and "test_tracebacks.py" in text
    assert "dot got operands" in text and "ValueError: other" in text
    before = error.__traceback__
    assert without_frames(error)[1] == count and error.__traceback__ is before
    assert before is not None
    alone = ValueError("alone").with_traceback(_last(before))
    text, count = without_frames(alone)
    assert count == 0 and "dovetail_numpy" in text


def _last(traceback: Any) -> Any:
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


class Shell:
    """As much of IPython as is used."""

    custom_exceptions = ()

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def set_custom_exc(self, kinds: Any, handler: Any) -> None:
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, exc_tuple: Any, tb_offset: Any) -> None:
        self.shown.append((exc_tuple[2], tb_offset))


def names(traceback: Any) -> set[str]:
    result: set[str] = set()
    while traceback is not None:
        result.add(traceback.tb_frame.f_globals["__name__"].partition(".")[0])
        traceback = traceback.tb_next
    return result


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Shell()
    ipython = SimpleNamespace(get_ipython=lambda: made)
    monkeypatch.setitem(sys.modules, "IPython", ipython)  # type: ignore[arg-type]
    monkeypatch.setattr(tracebacks, "_before", [sys.excepthook])
    yield made
    config.update("traceback_filtering", "off")


def test_ipython_leaves_out_frames_that_say_so(shell: Any) -> None:
    config.update("traceback_filtering", "auto")
    assert shell.custom_exceptions == (Exception,)
    error = failing()
    shell.handler(shell, type(error), error, error.__traceback__, tb_offset=1)
    assert shell.shown == [(error.__traceback__, 1)]
    at, hidden = error.__traceback__, set()
    while at is not None:
        if at.tb_frame.f_locals.get("__tracebackhide__"):
            hidden.add(at.tb_frame.f_globals["__name__"].partition(".")[0])
        at = at.tb_next
    assert {"dovetail_jit", "dovetail_numpy"} <= hidden and all("dovetail" in n for n in hidden)


def test_ipython_shows_what_is_left(shell: Any) -> None:
    error = failing()
    modes = {"off": [True], "quiet_remove_frames": [False], "remove_frames": [True, False]}
    for mode, wanted in modes.items():
        config.update("traceback_filtering", mode)
        shell.shown.clear()
        tracebacks._show_in_shell(shell, type(error), error, error.__traceback__)
        assert ["dovetail_jit" in names(t) for t, _ in shell.shown] == wanted


def test_modes_are_checked() -> None:
    message = (
        r"option 'traceback_filtering': expected one of 'off', 'auto', .* got 'none' at .*test_"
    )
    with pytest.raises(ValueError, match=message):
        config.update("traceback_filtering", "none")
    assert traceback_filtering.value == "off"
