"""``dovetail profile``: what is counted, why things happen again, and the page."""

from __future__ import annotations

import gc
import re
from functools import partial
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_cli import main
from dovetail_hooks import manager
from dovetail_jit import clear_caches, jit, watched_calls
from dovetail_profiler.formatting import shown_bytes, shown_time
from dovetail_profiler.report.recording import MOST, OwnTimes, Track, recording
from dovetail_profiler.report.summary import causes, profile_of, text_of
from dovetail_services.disk_cache.options import cache_dir, cache_min_seconds

X = np.ones(3, np.float32)
TIME = re.compile(r"\d[\d.e+]* (?:s|ms|us)\b")

SCRIPT = """
import sys

import numpy as np

import dovetail
import dovetail.lax as lax


def model(w, x):
    return lax.reduce_sum(lax.sin(lax.dot(x, w)), (0,))


step = dovetail.jit(dovetail.value_and_grad(model))
w = np.ones(4, np.float32)
for size in (2, 3, 2, 3):
    step(w, np.ones((size, 4), np.float32))
for _ in range(3):
    dovetail.jit(lambda x: lax.cos(x))(w)
lax.exp(w)
lax.exp(w)
lax.exp(w[:2])
print("arguments", sys.argv[1:], __name__)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_a_script_is_run_and_its_profile_printed(script: Path, capsys: Any) -> None:
    assert main(["profile", "train.py", "--steps", "3"]) == 0
    shown = TIME.sub("TIME", capsys.readouterr().out)
    assert shown.startswith("arguments ['--steps', '3'] __main__\n\nprofile of train.py: TIME\n")
    head, table, operations, *why = re.sub(" +", " ", shown).strip().split("\n\n")[1:]
    assert re.sub("TIME", "", head).split("\n")[1].replace(" ", "") == (
        "tracing,lowering,compiling,running;Pythonandcounting"
    )
    assert sorted(table.split("\n")) == [
        "<lambda> train.py:19 3 in TIME 3 in TIME 3 in TIME 3 in TIME",
        "function defined at traced lowered compiled run",
        "value_and_grad(model) train.py:10 2 in TIME 2 in TIME 2 in TIME 4 in TIME",
    ]
    assert operations.split("\n") == [
        "operation outside of jit compiled run", "exp 2 in TIME 3 in TIME",
    ]  # fmt: skip
    shape = " Pad arrays to a few shapes, or take the part that varies out of the function."
    assert sorted(why) == sorted(
        [
            "why value_and_grad(model) (train.py:10) was traced again\n"
            " 1 time another shape: x (TIME)\n"
            f" at train.py:17 (<module>), x: f32[3,4], before f32[2,4]\n{shape}",
            "why <lambda> (train.py:19) was traced again\n"
            " 2 times another function object: <lambda> (TIME)\n"
            " at train.py:19 (<module>)\n at train.py:19 (<module>)\n"
            " Make the function, and jit it, once and outside of the loop that calls it.",
            "why exp was compiled again\n"
            " 1 time another shape: operand 0 (TIME)\n"
            f" at train.py:22 (<module>), operand 0: f32[2], before f32[4]\n{shape}",
        ]
    )


class Tags(HTMLParser):
    """Checks that tags are closed in order, and collects what is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag != "meta":
            self.open.append(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}, "it needs nothing else"

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_whole_and_needs_nothing_else(script: Path, capsys: Any) -> None:
    assert main(["profile", "--html", "out.html", "train.py"]) == 0
    assert capsys.readouterr().out.endswith("\nwrote out.html\n")
    page = Tags()
    page.feed(Path("out.html").read_text())
    page.close()
    shown = "".join(page.text)
    assert page.open == [] and page.counts["svg"] == 1 and page.counts["table"] == 2
    assert "value_and_grad(model)" in shown and "train.py:19" in shown
    assert "traced again 2 times, for another function object: <lambda>" in shown
    assert "at train.py:17 (<module>), x: f32[3,4], before f32[2,4]" in shown
    assert "w: f32[4], x: f32[2,4] at train.py:17 (<module>): " in shown
    assert page.counts["rect"] >= 4


def test_a_trace_can_be_taken_with_it(script: Path, capsys: Any) -> None:
    assert main(["profile", "--trace", "traces", "train.py"]) == 0
    assert list(Path("traces").glob("plugins/profile/*/*.xplane.pb"))


def test_a_script_that_ends_early(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "s.py"
    for text, status, err in (
        ("import sys\nsys.exit(3)", 3, ""),
        ("import sys\nsys.exit()", 0, ""),
        ("raise SystemExit('why')", 1, "why\n"),
        ("raise KeyboardInterrupt", 130, ""),
    ):
        script.write_text(text)
        assert main(["profile", "s.py"]) == status
        shown = capsys.readouterr()
        assert (shown.err, "profile of s.py" in shown.out) == (err, True)
    script.write_text("def f():\n    raise ValueError('wrong')\nf()")
    assert main(["profile", "s.py"]) == 1
    shown = capsys.readouterr()
    lines = shown.err.split("\n")
    assert lines[1].endswith('s.py", line 3, in <module>') and lines[-2] == "ValueError: wrong"
    assert "dovetail_profiler" not in shown.err and "runpy" not in shown.err


def test_programs_from_the_cache_on_disk_are_told(script: Path, capsys: Any) -> None:
    text = "import numpy as np, dovetail\nimport dovetail.lax as lax\n"
    script.write_text(f"{text}dovetail.jit(lambda x: lax.sin(x))(np.float32(1))")
    with cache_dir("cache"), cache_min_seconds(0.0):
        main(["profile", "train.py"])
        clear_caches()
        capsys.readouterr()
        main(["profile", "train.py", "--html", "x.html"])
    assert "  1 (1 from disk) in " in capsys.readouterr().out


def test_warnings_of_the_script_are_its_own(script: Path, capsys: Any, recwarn: Any) -> None:
    script.write_text("import warnings\nwarnings.warn('careful', RuntimeWarning)")
    assert main(["profile", "train.py"]) == 0
    assert "train.py:2: RuntimeWarning: careful" in capsys.readouterr().err


def test_wrong_command_lines(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "none.py"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dovetail: error: there is no file 'none.py'; for example: dovetail pro")
    (tmp_path / "s.py").write_text("print('never run')")
    assert main(["profile", "--html", "no/such/folder.html", "s.py"]) == 2
    shown = capsys.readouterr()
    assert "--html: 'no/such/folder.html' cannot be written: No such file" in shown.err
    assert not shown.out


def test_everything_is_as_before_when_it_is_over() -> None:
    f = jit(lambda x: lax.sin(x))
    with recording() as recorder:
        f(X)
        f(X)
    assert [e.totals["run"].count for e in recorder.functions.values()] == [2]
    assert not manager().is_registered(recorder)
    f(X)
    f(X)
    assert [e.totals["run"].count for e in recorder.functions.values()] == [2]


def test_calls_that_were_in_python_no_more_are_counted() -> None:
    f = jit(lambda x: lax.sin(x))
    f(X)
    f(X)
    heard: list[str] = []
    with watched_calls(lambda executable, seconds: heard.append(executable.module.name)):
        f(X)
        f(X)
        with watched_calls(lambda executable, seconds: None):
            f(X)
        f(X)
    f(X)
    assert heard == ["<lambda>"] * 3


def test_who_has_heard_is_not_kept_alive() -> None:
    class Ear:
        def hear(self, executable: Any, seconds: float) -> None: ...

    ear = Ear()
    gone = ref(ear)
    with watched_calls(ear.hear):
        jit(lambda x: lax.sin(x))(X)
    del ear
    gc.collect()
    assert gone() is None


def test_operations_are_compiled_no_more_often_than_else() -> None:
    with recording() as recorder:
        for _ in range(3):
            lax.expm1(X)
    (entry,) = profile_of(recorder, "s", 1.0).operations
    assert (entry.totals["compile"].count, entry.totals["run"].count) == (1, 3)


def test_programs_are_told_apart_by_function_and_not_by_name() -> None:
    def made(factor: float) -> Any:
        def f(x: Any) -> Any:
            return lax.mul(x, factor)

        return f

    def other() -> Any:
        def f(x: Any) -> Any:
            return lax.sin(x)

        return f

    first, second = jit(made(2.0)), jit(other())
    with recording() as recorder:
        first(X)
        second(X)
        second(X)
    runs = {
        e.location.rpartition(":")[2]: e.totals["run"].count for e in recorder.functions.values()
    }
    assert sorted(runs.values()) == [1, 2] and len(runs) == 2


def test_compiler_options_are_a_reason_to_compile_again() -> None:
    def f(x: Any) -> Any:
        return lax.sin(x)

    with recording() as recorder:
        jit(f)(X)
        jit(f, compiler_options={"xla_cpu_enable_fast_math": True})(X)
    (entry,) = profile_of(recorder, "s", 1.0).functions
    (cause,) = causes(entry)
    assert cause.what == "other compiler options: compiler options"
    assert (entry.totals["trace"].count, entry.totals["compile"].count) == (1, 2)


def test_an_empty_profile() -> None:
    with recording() as recorder:
        pass
    text = text_of(profile_of(recorder, "nothing.py", 2.0))
    assert text == (
        "profile of nothing.py: 2 s\n"
        "  0 us tracing, 0 us lowering, 0 us compiling, 0 us running; 2 s Python and counting"
    )


def test_three_digits_are_shown() -> None:
    times = (0.0, 2.5e-7, 0.99996e-3, 0.0123456, 1.5, 1234.0)
    shown = ["0 us", "0.25 us", "1000 us", "12.3 ms", "1.5 s", "1234 s"]
    assert [shown_time(t) for t in times] == shown
    sizes = (0, 999, 1000, 999_999, 2.5e9, 3e12)
    shown = ["0 B", "999 B", "1 kB", "1000 kB", "2.5 GB", "3 TB"]
    assert [shown_bytes(n) for n in sizes] == shown


def test_callable_objects_have_the_place_of_their_class() -> None:
    class Model:
        def __call__(self, x: Any) -> Any:
            return lax.sin(x)

    with recording() as recorder:
        jit(Model())(X)
        jit(partial(lax.mul, 2.0))(X)
    functions = {e.name: e.location for e in recorder.functions.values()}
    line = Model.__call__.__code__.co_firstlineno
    assert list(functions) == ["Model"] and functions["Model"].endswith(f"command.py:{line}")
    assert "mul" in recorder.operations


def test_inner_times_do_not_count_twice() -> None:
    times = OwnTimes()
    assert times.own(1.0, 2.0) == 1.0
    assert times.own(2.5, 3.0) == 0.5
    assert times.own(0.5, 3.5) == 1.5
    assert times.own(3.5, 4.0) == 0.5
    assert times.own(0.0, 5.0) == 1.5


def test_many_intervals_are_joined() -> None:
    track = Track()
    for i in range(100_000):
        track.add(i * 1e-2, i * 1e-2 + 1e-3)
    spans = list(track)
    assert len(spans) <= MOST and (spans[0][0], spans[-1][1]) == (0.0, 99_999 * 1e-2 + 1e-3)
    assert all(a[1] < b[0] for a, b in pairwise(spans))
