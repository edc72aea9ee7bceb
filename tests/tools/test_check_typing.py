"""The check of what type checkers and editors see of the facade, on answers that are made up."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "tools" / "check_typing.py"
NAMES = {"dovetail": ["grad", "numpy"], "dovetail.numpy": ["sin"]}
GRAD, NUMPY, SIN, *WRONG = range(2, 9)
"""The lines of the program about names that are there, and about those that are not."""

FINE = {
    GRAD: 'Type of "dovetail.grad" is "(fun: (...) -> Any) -> Any"',
    NUMPY: 'Type of "dovetail.numpy" is "Module(\'dovetail.numpy\')"',
    SIN: 'Type of "dovetail.numpy.sin" is "(Any) -> Any"',
    WRONG[0]: '"no_such_name" is not a known attribute of module "dovetail"',
    WRONG[1]: '"no_such_name" is unknown import symbol',
    WRONG[2]: '"no_such_name" is not a known attribute of module "dovetail.numpy"',
    WRONG[3]: '"no_such_name" is unknown import symbol',
}


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_typing", SOURCE)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problems(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[int, str]
) -> list[str]:
    """What the check makes of messages of pyright, by line."""
    result = [{"range": {"start": {"line": n}}, "message": m} for n, m in said.items()]
    answer = SimpleNamespace(stdout=json.dumps({"generalDiagnostics": result}))
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: answer)
    return list(tool.check_types(NAMES, tmp_path, sys.executable))


def test_known_types_and_errors_for_wrong_names(tool: Any, tmp_path: Any, monkeypatch: Any) -> None:
    assert problems(tool, tmp_path, monkeypatch, FINE) == []
    program = (tmp_path / "program.py").read_text().split("\n")
    assert program[GRAD] == "reveal_type(dovetail.grad)"
    assert program[WRONG[1]] == "from dovetail import no_such_name"


@pytest.mark.parametrize(
    "message",
    [
        'Type of "dovetail.grad" is "Unknown"',
        'Type of "dovetail.grad" is "(fun: Unknown) -> Any"',
        '"grad" is not exported from module "dovetail"',
    ],
)
def test_a_type_that_is_not_known(tool: Any, tmp_path: Any, monkeypatch: Any, message: str) -> None:
    (problem,) = problems(tool, tmp_path, monkeypatch, FINE | {GRAD: message})
    assert problem == f"reveal_type(dovetail.grad): {message}"


def test_a_name_without_a_type(tool: Any, tmp_path: Any, monkeypatch: Any) -> None:
    said = {n: m for n, m in FINE.items() if n != SIN}
    (problem,) = problems(tool, tmp_path, monkeypatch, said)
    assert problem == "reveal_type(dovetail.numpy.sin): no type"


def test_a_wrong_name_that_passes(tool: Any, tmp_path: Any, monkeypatch: Any) -> None:
    said = {n: m for n, m in FINE.items() if n != WRONG[1]}
    (problem,) = problems(tool, tmp_path, monkeypatch, said)
    assert problem == (
        "from dovetail import no_such_name: pyright reports no error, so that wrong names pass"
    )


def test_completion(tool: Any, tmp_path: Any, monkeypatch: Any) -> None:
    class Server:
        def __init__(self, *_: Any) -> None: ...
        def close(self) -> None: ...

        def completions(self, uri: str, text: str) -> dict[str, Any]:
            names = ["sin", "__file__"] if "numpy" in text else ["numpy", "hidden"]
            return {n: n for n in names}

        def ask(self, method: str, item: str) -> Any:
            text = "(module) numpy" if item == "numpy" else "(variable)"
            return {"documentation": {"value": text}}

    monkeypatch.setattr(tool, "LanguageServer", Server)
    assert list(tool.check_completion(NAMES, tmp_path, sys.executable)) == [
        "completion of dovetail.: missing: grad",
        "completion of dovetail.: not public: hidden",
        "completion of dovetail.numpy.: of sin it says only '(variable)'",
    ]
