"""The check of import circles sees imports at the top, in functions and for types."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "tools/check_circles.py"
spec = importlib.util.spec_from_file_location("check_circles", FILE)
check_circles = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_circles)


def package(root: Path, **files: str) -> None:
    folder = root / "plugins/alpha/dovetail_alpha"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


BACK = {
    "top": "from .a import f\n",
    "absolute": "import dovetail_alpha.a\n",
    "function": "def g():\n    from .a import f\n",
    "types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import a\n",
}


@pytest.mark.parametrize("kind", BACK)
def test_a_circle_is_found_and_named(tmp_path, capsys, kind):
    package(tmp_path, a="from .b import g\n", b=BACK[kind])
    assert check_circles.main(tmp_path) == 1
    name, _, path = capsys.readouterr().out.strip().partition(": ")
    assert name == "dovetail_alpha"
    assert set(path.split(" -> ")) == {"dovetail_alpha.a", "dovetail_alpha.b"}


def test_layers_are_no_circle(tmp_path, capsys):
    package(tmp_path, a="from .b import g\nfrom . import c\n", b="from .c import h\n", c="h = 1\n")
    assert check_circles.main(tmp_path) == 0 and capsys.readouterr().out == ""
