"""The check that the facade holds no logic, statement by statement."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_facade.py"

FINE = '''\
"""What users import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.facade import lazy

if TYPE_CHECKING:
    from dovetail_ad import grad as grad

_WHERE = {"grad": "dovetail_ad"}
__all__ = ["grad"]
__getattr__, __dir__ = lazy(__name__, _WHERE)
'''

LOOKUP = """\
def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(name)
    from importlib import import_module
    return getattr(import_module(_WHERE[name]), name)
"""


def problems(tmp_path: Path, text: str) -> str:
    """What the check prints about a facade of one module; its exit status has to agree."""
    module = tmp_path / "facade" / "dovetail" / "__init__.py"
    module.parent.mkdir(parents=True)
    module.write_text(text)
    done = subprocess.run([sys.executable, CHECK, tmp_path], capture_output=True, text=True)
    assert done.stderr == ""
    assert (done.returncode == 0) == (done.stdout == "facade: nothing but re-exports\n")
    return done.stdout


@pytest.mark.parametrize("text", [FINE, FINE + LOOKUP])
def test_re_exports_and_lookup_pass(tmp_path: Path, text: str) -> None:
    assert "nothing but re-exports" in problems(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("def grad(f):\n    return f\n", "a definition of grad"),
        ("class Array:\n    pass\n", "a definition of Array"),
        ("pi = 3.14\n", "a value computed for pi"),
        ("_names = sorted(['b', 'a'])\n", "a value computed for _names"),
        ("for name in ():\n    pass\n", "the statement `for name in ():`"),
        ("print('hello')\n", "the statement `print('hello')`"),
        ("if TYPE_CHECKING:\n    x = 1\n", "a TYPE_CHECKING block that does more than import"),
        ("def __dir__():\n    while 1:\n        pass\n", "a while in __dir__"),
        ("def __dir__():\n" + "    a = 1\n" * 9, "__dir__ of more than 8 statements"),
    ],
)
def test_logic_is_named_with_its_line_and_the_remedy(tmp_path: Path, text: str, what: str) -> None:
    found = problems(tmp_path, '"""Facade."""\n' + text)
    assert f"__init__.py:2: the facade has no logic, but here is {what}." in found
    assert "Move it into the plugin or the kernel and re-export it." in found
