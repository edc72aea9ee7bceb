"""``dovetail run``: as ``python`` runs a program, and what its report tells."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """
import sys, warnings
import jax
from jax import numpy as jnp

print(__name__, sys.argv[1:], float(jnp.sum(jnp.arange(4.0))))
jax.config.update("jax_pprint_use_color", False)
hasattr(jax.export, "export")
if "--fail" in sys.argv:
    jnp.ones(3) @ jnp.ones(4)
if "--exit" in sys.argv:
    sys.exit("done for today")
"""


def _run(python, path: Path, *arguments: str, **env: str):
    path.joinpath("train.py").write_text(PROGRAM)
    return python("-m", "dovetail_cli", "run", *arguments, **env)


def test_a_program_gets_its_arguments_and_may_be_a_module(python, tmp_path) -> None:
    done = _run(python, tmp_path, "train.py", "--steps", "3")
    assert (done.returncode, done.stdout, done.stderr) == (
        0, "__main__ ['--steps', '3'] 6.0\n", ""
    )  # fmt: skip
    done = _run(python, tmp_path, "-m", "train", "-x")
    assert (done.returncode, done.stdout) == (0, "__main__ ['-x'] 6.0\n"), done.stderr


def test_its_errors_and_its_exit_status_are_its_own(python, tmp_path) -> None:
    done = _run(python, tmp_path, "train.py", "--fail")
    assert done.returncode == 1
    first, where = done.stderr.splitlines()[:2]
    assert first == "Traceback (most recent call last):" and "train.py" in where
    done = _run(python, tmp_path, "train.py", "--exit")
    assert (done.returncode, done.stderr) == (1, "done for today\n")


def test_its_file_is_absolute_as_pythons_is(python, tmp_path) -> None:
    code = "import os, sys, jax\nos.chdir('/')\nprint(__file__, sys.modules['__main__'].__file__)"
    tmp_path.joinpath("places.py").write_text(code)
    done = python("-m", "dovetail_cli", "run", "places.py")
    assert done.stdout.split() == [str(tmp_path / "places.py")] * 2, done.stderr


def test_its_processes_do_the_same(python, tmp_path) -> None:
    code = (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import jax; print(jax)'])"
    )
    tmp_path.joinpath("parent.py").write_text(code)
    done = python("-m", "dovetail_cli", "run", "parent.py")
    assert "dovetail_jax_names" in done.stdout, done.stderr


def test_the_report(python, tmp_path) -> None:
    done = _run(python, tmp_path, "--report", "train.py")
    place = tmp_path / "train.py"
    assert done.returncode == 0
    assert done.stderr.splitlines()[1:] == [
        "dovetail: missing names of jax",
        f"  jax.export.export  {place}:8  JAX 0.10.2 has "
        "jax.export.export. Dovetail does not have it: exported and stored programs are planned "
        "(docs/coverage.md).",
        "dovetail: options of jax without effect here",
        f"  jax_pprint_use_color  {place}:7",
    ]
    tmp_path.joinpath("other.py").write_text("import jax.numpy")
    done = python("-m", "dovetail_cli", "run", "--report", "other.py")
    assert done.stderr.strip() == ("dovetail: all that was asked of jax is there, by public names")


def test_no_such_program(python) -> None:
    done = python("-m", "dovetail_cli", "run", "nothing.py")
    assert (done.returncode, done.stderr) == (
        2, "dovetail: error: there is no file 'nothing.py'; for example: dovetail run train.py "
        "--steps 10\n",
    )  # fmt: skip


def test_no_such_module(python, tmp_path) -> None:
    for name in ("nothing", "nothing.inner"):
        done = python("-m", "dovetail", "run", "-m", name)
        assert done.returncode == 2 and f"error: there is no module {name!r}; " in done.stderr
    tmp_path.joinpath("broken.py").write_text("import nothing_else")
    done = python("-m", "dovetail", "run", "-m", "broken")
    assert done.returncode == 1 and "No module named 'nothing_else'" in done.stderr
