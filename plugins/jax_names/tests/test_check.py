"""``dovetail check``: which names of JAX sources use, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dovetail_jax_names.scanning import Use, scan

SOURCE = """\
import os
import jax
import jax.numpy as jnp
import jax as j
from jax import lax, random as r
from jax.numpy import linalg as la, sin
from jax._src import core
import numpy as np

jax.experimental.fused.fused(lambda x: j.lax.add(jnp.ones(3).sum(), la.norm(x)))
np.linalg.norm(3)

def f(lax, *, j=None):
    return lax.nothing + j.nothing + jax.Array.at + r.key(0)

try:
    from jax.lib import xla_bridge
    jax.experimental.pallas.BlockSpec
except (ImportError, AttributeError):
    jax.config.update("jax_logging_level", "DEBUG")
os.environ["JAX_CHECK_STATIC_INDICES"] = "1"
jax.config.update("jax_enable_x64", True)
core.trace_state_clean(), core.no_such()
jax._src.nowhere.f, jax._src.tree_util.flatten_one_level
import importlib
importlib.import_module("jax.export")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for path, text in {
        "a.py": SOURCE, "b.py": "import jax\nprint(jax.numpy.sin(1.0))\n", "c.txt": "import jax",
        ".hidden/d.py": "import jax.pmap", "env/site-packages/e.py": "import jax.pmap",
    }.items():  # fmt: skip
        folder.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(path).write_text(text)
    return folder


def test_names_through_aliases(project: Path) -> None:
    result = scan([project / "a.py"])
    assert {u.name for u in result if u.line < 12} == {
        "jax", "jax.numpy", "jax.lax", "jax.random", "jax.numpy.linalg", "jax.numpy.sin",
        "jax._src.core", "jax.experimental.fused.fused", "jax.lax.add", "jax.numpy.ones",
        "jax.numpy.linalg.norm",
    }  # fmt: skip
    assert {u.name for u in result if u.line == 14} == {"jax.Array", "jax.random.key"}
    assert [u for u in result if u.is_probed] == [
        Use(str(project / "a.py"), 17, "jax.lib.xla_bridge", True),
        Use(str(project / "a.py"), 18, "jax.experimental.pallas.BlockSpec", True),
    ]
    assert {u.line: u.name for u in result if u.line in (20, 21, 25, 26)} == {
        20: "jax_logging_level", 21: "JAX_CHECK_STATIC_INDICES", 26: "jax.export",
    }  # fmt: skip


def test_what_is_said_of_them(project: Path, python: Any) -> None:
    code = (
        "import dovetail.jax, sys; from dovetail_jax_names.scanning import problems, scan\n"
        "for p in problems(scan(sys.argv[1:])): print(p.use.name, p.kind, p.is_fatal, sep=' | ')"
    )
    done = python("-c", code, str(project))
    assert set(done.stdout.splitlines()) == {
        "jax.experimental.fused.fused | missing | True",
        "jax.lib.xla_bridge | not in JAX | False",
        "jax.experimental.pallas.BlockSpec | missing | False",
        "jax_logging_level | no effect here | False",
        "JAX_CHECK_STATIC_INDICES | no effect here | False",
        "jax._src.core | private, emulated | False",
        "jax._src.core.trace_state_clean | private, emulated | False",
        "jax._src.core.no_such | private, missing | True",
        "jax._src.nowhere.f | private, missing | True",
        "jax._src.tree_util.flatten_one_level | private, emulated | False",
        "jax.export | imports, but is empty | False",
    }, done.stderr


def _check(python: Any, *paths: Any) -> tuple[int, str]:
    done = python("-m", "dovetail_cli", "check", *map(str, paths))
    return done.returncode, done.stdout or done.stderr


def test_the_table(project: Path, python: Any) -> None:
    status, out = _check(python, project)
    cells = [line.split() for line in out.splitlines() if "a.py:" in line]
    lines = {place.rpartition(":")[2]: " ".join(rest) for place, *rest in cells}
    assert status == 1 and str(project / "a.py:10") in out
    assert lines["10"].startswith("jax.experimental.fused.fused missing: ")
    assert "kernels written in Python are planned" in lines["18"]
    assert lines["18"].startswith(
        "jax.experimental.pallas.BlockSpec missing, which the program provides for: JAX"
    )
    assert lines["20"] == "jax_logging_level no effect here"
    assert (
        lines["21"] == "JAX_CHECK_STATIC_INDICES no effect here: Dovetail has no other than False"
    )
    assert lines["7"] == "jax._src.core private, emulated"
    assert "private, missing: it is private in JAX, and no library is known to need it" in out
    assert out.splitlines()[-1] == (
        "2 files, 24 names of jax in 28 places: 2 missing, 2 private and missing, "
        "3 private and emulated, 1 that JAX has not, 1 empty, 2 without effect"
    )


def test_a_project_that_has_all(project: Path, python: Any) -> None:
    assert _check(python, project / "b.py") == (
        0, "1 file, 2 names of jax in 2 places: all are there\n"
    )  # fmt: skip


def test_files_that_are_no_python(project: Path, python: Any) -> None:
    project.joinpath("a.py").write_text("def (")
    project.joinpath("x.py").write_bytes(b"import jax\n\xff")
    status, out = _check(python, project)
    assert status == 0
    assert "a.py:1" in out and "not read: it is no Python source: invalid syntax" in out
    assert "x.py" in out and "2 names of jax in 2 places: 2 files not read" in out


def test_no_such_path(python: Any) -> None:
    assert _check(python, "nowhere") == (
        2, "dovetail: error: there is no file or folder 'nowhere'; for example: dovetail check src "
        "tests\n",
    )  # fmt: skip


def test_names_that_stand_for_others(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(
        "import jax\nfrom jax import random\nlax = jax.lax\nlax.add\nrandom = 3\nrandom.key\n"
        "hasattr(jax, 'one'), getattr(lax, 'two'), getattr(lax, 'three', None)\n"
        "async def f(*jax): jax.numpy\ng = lambda jax: jax.numpy\n"
    )
    assert [(u.line, u.name) for u in scan([path])] == [
        (1, "jax"), (2, "jax.random"), (3, "jax.lax"), (4, "jax.lax.add"), (7, "jax.lax.three"),
        (7, "jax.lax.two"), (7, "jax.one"),
    ]  # fmt: skip
    assert {u.name for u in scan([path]) if u.is_probed} == {"jax.one", "jax.lax.three"}


def test_modules_that_import_and_are_empty(tmp_path: Path, python: Any) -> None:
    path = tmp_path / "f.py"
    path.write_text("import jax.export, jax.ffi\nfrom jax.experimental import pallas\n")
    status, out = _check(python, path)
    told = "the import succeeds; using one of its names raises an error that says what is missing:"
    kernels = "kernels written in Python are planned (docs/coverage.md)."
    assert status == 0 and kernels in " ".join(out.split())
    assert out.count("imports, but is empty: ") == 3 and told in " ".join(out.split())
    assert out.splitlines()[-1] == "1 file, 3 names of jax in 3 places: 3 empty"
    path.write_text("from jax import export\nexport.export\n")
    status, out = _check(python, path)
    assert status == 1 and out.splitlines()[-1].endswith("2 places: 1 missing, 1 empty")
