"""The runner of other libraries' tests, on a library that is made up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

# Tests are imported by their paths; the package is found as `make ecosystem` finds it.
sys.path.insert(0, str(Path(__file__).parents[1]))

from ecosystem import comparing, environment, measuring, page, results, running, suites
from ecosystem.libraries import LIBRARIES, Library

sys.path.pop(0)

SUITE = """
import os, sys
import pytest

HERE = "DOVETAIL_AS_JAX" in os.environ

def test_good(): pass
def test_other(): assert not HERE, "a reason"
def test_dies():
    if HERE: os._exit(7)
@pytest.mark.parametrize("value", [object()], ids=repr)
def test_named_by_address(value): pass
def test_bad(): assert False
def test_skipped(): pytest.skip("no")
def test_last(): pass
"""

PATTERNS = ["*_test.py", "test_*.py"]
LIBRARY = Library("made-up", "1.0", "made_up", ["tests"], "", {}, PATTERNS, [], [], [], {})


class Environment:
    """This interpreter, which has neither library."""

    python = Path(sys.executable)

    def key(self, side: str, library: Library) -> str:
        return side

    def variables(self, side: str, more: dict[str, str]) -> dict[str, str]:
        return more | ({"DOVETAIL_AS_JAX": ""} if side == "dovetail" else {})


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> comparing.Comparison:
    monkeypatch.setattr(running, "BUILD", tmp_path / "build")
    monkeypatch.setattr(results, "PLACE", tmp_path / "results.json")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_all.py").write_text(SUITE)
    runner: Any = running.Runner(Environment(), failing=False, kept=False)  # pyright: ignore
    return comparing.compare(LIBRARY, runner, tmp_path, ["tests/test_all.py"])


def test_what_passes_there_is_compared(result: comparing.Comparison):
    assert result.passed_there == 5 and result.failed_there == 1
    outcomes = {name.split("::")[1]: outcome[0] for name, outcome in result.failed.items()}
    assert outcomes == {"test_other": "failed", "test_dies": "died"}
    assert result.failed["tests/test_all.py::test_other"][2].startswith("AssertionError: a reason")


def test_what_is_told(result: comparing.Comparison):
    assert "3 of 5 (60.0 %); 1 fail on JAX itself" in comparing.told_table(result)
    first, second = comparing.told_failures(result).split("    1  ")[1:]
    assert "test_all.py::test_other" in first and "test_all.py::test_dies" in second


def test_the_page_is_written_from_what_is_kept(result: comparing.Comparison):
    assert results.tests_of(LIBRARY) is None and results.programs_of(LIBRARY) is None
    comparing.store(result)
    assert results.tests_of(LIBRARY) == results.Tests("1.0", 3, 5, 1, 1, "")
    times = {"jax": {"import": 1 / 3}, "dovetail": {"import": 0.25}}
    results.keep(LIBRARY, results.Programs("1.0", 3, {"one": (times, "")}))
    kept = results.programs_of(LIBRARY)
    assert kept and kept.programs["one"][0]["jax"]["import"] == 0.3333
    assert results.tests_of(LIBRARY)


def test_the_page_is_that_of_the_results():
    text = page.PAGE.read_text()
    assert page.renewed(text) == text
    assert "| flax/linen |" in text and "| flax | " in text


def test_results_are_kept(
    result: comparing.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(running.Runner, "_run", lambda *_: pytest.fail("run again"))
    runner: Any = running.Runner(Environment(), failing=False, kept=False)  # pyright: ignore
    assert comparing.compare(LIBRARY, runner, tmp_path, ["tests/test_all.py"]) == result


def test_every_so_many_tests_from_one_on(
    result: comparing.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    runner: Any = running.Runner(Environment(), failing=False, kept=False)  # pyright: ignore
    some = LIBRARY._replace(every=3, first=1)  # test_other, test_bad
    compared = comparing.compare(some, runner, tmp_path, ["tests/test_all.py"])
    assert (compared.passed_there, compared.failed_there) == (1, 1)
    assert [name.split("::")[1] for name in compared.failed] == ["test_other"]
    monkeypatch.setattr(running.Runner, "_run", lambda *_: pytest.fail("run again"))
    assert comparing.compare(LIBRARY, runner, tmp_path, ["tests/test_all.py"]) == result


def test_files_that_one_process_runs_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running, "BUILD", tmp_path / "build")
    monkeypatch.setattr(suites, "SUITES", tmp_path / "suites")
    root = tmp_path / "suites" / "made_up-1.0"
    (root / "tests" / "inner").mkdir(parents=True)
    (root / "tests" / "test_all.py").write_text(SUITE)
    (root / "tests" / "test_broken.py").write_text("import no_such_module")
    (root / "tests" / "inner" / "test_more.py").write_text("def test_one(): pass\n")
    environment: Any = Environment()
    together = LIBRARY._replace(suite="1.0", together=True, every=2)
    assert suites.files_of(together, environment) == (root, ["tests"])
    runner = running.Runner(environment, failing=False, kept=False)
    compared = comparing.compare(together, runner, root, ["tests"])
    # Every other test: one, other, named_by_address, skipped; and a file that is not collected.
    assert (compared.passed_there, compared.failed_there) == (3, 1)
    assert [name.split("::")[1] for name in compared.failed] == ["test_other"]


def test_an_interrupted_file_goes_on(
    result: comparing.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    environment: Any = Environment()
    job = running.Job(LIBRARY, tmp_path, "tests/test_all.py", "jax", None)
    record = running._record(job, "jax")
    name = "tests/test_all.py::test_bad"
    record.write_text(running._written({name: ("passed", 1.0, "", "")}) + '{"begun": "test_l')
    outcomes = running.Runner(environment, failing=False, kept=False)._run(job)
    assert outcomes[name] == ("passed", 1.0, "", "") and len(outcomes) == 7
    assert not record.exists()


def test_imports_are_timed_from_the_start_of_the_process(tmp_path: Path) -> None:
    """What an environment imports by itself is part of what a program waits for."""
    (tmp_path / "sitecustomize.py").write_text("import time; time.sleep(0.3)")
    (tmp_path / "jax.py").write_text("block_until_ready = print")
    program = tmp_path / "program.py"
    program.write_text("import jax\n\ndef run():\n    yield 1\n    return {}\n")
    more = {"PYTHONPATH": str(tmp_path), "ECOSYSTEM_BEGUN": str(time.time())}
    command = [sys.executable, Path(measuring.__file__).with_name("stopwatch.py"), program]
    done = subprocess.run(
        command, env={**os.environ, **more}, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1])["import"] >= 0.3


def test_numbers_are_compared_with_tolerance():
    assert not measuring.difference({"a": [1.0, 2.00001]}, {"a": [1.0, 2.0]})
    assert measuring.difference({"a": [1.0, 2.1]}, {"a": [1.0, 2.0]}) == "a is 2.1, on JAX 2.0"
    assert not measuring.difference({"a": float("nan")}, {"a": float("nan")})
    assert measuring.difference({"a": 1.0}, {"a": float("nan")})
    assert measuring.difference({}, {"a": 1.0}) == "a is None, on JAX 1.0"


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_each_library_has_programs_and_tests_or_says_why(library: Library):
    programs = {f"programs/{path.stem}" for path in measuring.programs_of(library)}
    assert len(programs) >= 2
    assert bool(library.tests) != bool(library.without)
    assert {name for name in library.sample if name.startswith("programs/")} <= programs


def test_a_library_that_asks_for_an_older_jax_is_installed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "BUILD", tmp_path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    commands: list[list[str]] = []
    made = environment.Environment("made-up")
    made.folder.mkdir()
    monkeypatch.setattr(
        environment.subprocess, "run", lambda c, **_: commands.append([str(x) for x in c])
    )
    plain = LIBRARY._replace(needs=["plain", "shared"])
    old = LIBRARY._replace(needs=["old", "shared"], alone=True)
    made.install([plain, old], tmp_path)
    installed = [c[c.index("install") + 1 :] for c in commands if "install" in c]
    with_needs, without = (c for c in installed if {"plain", "old"} & {*c})
    assert "--no-deps" not in with_needs and {"jax", "plain", "shared"} < set(with_needs)
    assert without[0] == "--no-deps" and without[-1] == "old" and "shared" not in without
    commands.clear()
    made.install([plain, old], tmp_path)  # all is there
    assert not commands


def test_only_the_tests_of_an_older_version_are_left(tmp_path: Path) -> None:
    kept = ["made_up/inner/a_test.py", "tests/helpers.py", "tests/test_all.py"]
    for name in [*kept, "made_up/__init__.py", "made_up/inner/a.py", "made_up.egg-info/PKG-INFO"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    suites.leave_tests(tmp_path, LIBRARY)
    result = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()]
    assert sorted(result) == kept
