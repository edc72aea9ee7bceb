"""How progress is shown: where, after how long, and what is left of it."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import config
from dovetail_jit import jit
from dovetail_services import compile_all
from dovetail_services.precompile import workers as progress

X = np.ones(3, np.float32)


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, file: Any, asked: bool | None = None) -> str:
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    compile_all([(jit(lambda x, i=i: lax.add(x, float(i))), (X,)) for i in range(2)],
                progress=asked)  # fmt: skip
    return file.getvalue()


@pytest.mark.parametrize("has_rich", [True, False])
def test_a_terminal_has_a_bar_that_is_removed(
    monkeypatch: pytest.MonkeyPatch, has_rich: bool
) -> None:
    if has_rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    text = shown(monkeypatch, Terminal())
    assert "compiling" in text and "/2" in text and "\x1b[" in text
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert shown(monkeypatch, Terminal(), False) == ""
    with config.option("compile_progress")(False):
        assert shown(monkeypatch, Terminal()) == ""


def test_other_files_have_lines_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO()) == ""
    first, second = shown(monkeypatch, io.StringIO(), True).splitlines()
    assert first.startswith("compiled 1 of 2 after 0.") and second.endswith("s: <lambda>")
    monkeypatch.setattr(sys, "stderr", None)
    compile_all([(lax.sin, (X,))], progress=True)


def test_nothing_is_shown_of_what_is_over_soon() -> None:
    file, tally = Terminal(), progress.Tally(1)
    for made in (progress.Bar(file, 80), progress._rich(file)):
        if made is not None:
            made.draw(tally)
            made.end(tally)
    assert file.getvalue() == ""
