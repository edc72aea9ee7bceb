"""The check of the door sees what a package takes that is not public, and names it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def check_door(load_tool):
    return load_tool("check_door")


def write(root: Path, text: str) -> None:
    folder = root / "plugins/alpha/dovetail_alpha"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(text)
    kernel = root / "core/dovetail_core/rules"
    kernel.mkdir(parents=True)
    (kernel / "dead_code.py").write_text('__all__ = ("needed",)\nneeded = _other = 1\n')
    (kernel / "inner.py").write_text("from dovetail_core.rules.dead_code import _other\n")


REFUSED = {
    "from dovetail_core.rules.dead_code import needed": "dovetail_core.rules.dead_code.needed is",
    "def f():\n    import dovetail_core.rules.inner": "dovetail_core.rules.inner is not public",
    "from dovetail_core import dead_code\ndead_code.late": "dead_code.late is not in the module's",
    "from dovetail_core import dead_code as d\nd.late": "dead_code.late is not in the module's",
    "from dovetail_beta import _f": "_f of dovetail_beta is private to dovetail_beta",
    "from dovetail_beta._inner import f": "_inner of dovetail_beta._inner is private",
    "x.__class__ = Y": "an object's class is swapped",
    'if "sizes" in eqn.params: ...': "a primitive is recognised by its parameter 'sizes'",
    'y = "sizes" not in params': "a primitive is recognised by its parameter 'sizes'",
    'name.startswith("dovetail_")': "a name is recognised by how it begins",
    'name.startswith(("acme", "dovetail_"))': "a name is recognised by how it begins",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_not_public_is_refused(tmp_path, capsys, check_door, code):
    write(tmp_path, f"{code}\n")
    assert check_door.main(tmp_path, {}) == 1
    (line,) = capsys.readouterr().out.splitlines()
    at = code.count("\n") + 1
    assert line.startswith(f"plugins/alpha/dovetail_alpha/a.py:{at}: {REFUSED[code]}")


ALLOWED = (
    "from dovetail_core import dead_code, stage\ndead_code.needed",
    "from dovetail_alpha._inner import _f",
    "from ._inner import _f",
    "from dovetail_beta import __array_namespace_info__",
    'if "sizes" in sample: ...',
    "y = x.__class__ is Y",
    'name.startswith("acme_")',
    "from dovetail_base.options import as_bool",
)


@pytest.mark.parametrize("code", ALLOWED)
def test_other_code_is_left(tmp_path, capsys, check_door, code):
    write(tmp_path, f"{code}\n")
    assert check_door.main(tmp_path, {}) == 0
    assert capsys.readouterr().out == ""


def test_an_exception_is_for_one_name_of_one_file(tmp_path, capsys, check_door):
    write(tmp_path, "x.__class__ = Y\n")
    key = "plugins/alpha/dovetail_alpha/a.py: __class__"
    assert check_door.main(tmp_path, {key: "why"}) == 0
    assert check_door.main(tmp_path, {key: "why", "b.py: __class__": "why"}) == 1
    assert "b.py: __class__: an exception in tools/check_door.py that nothing needs" in (
        capsys.readouterr().out
    )
