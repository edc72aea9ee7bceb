"""The worked examples, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def example(name: str) -> ModuleType:
    """The module of an example; loaded once, because its primitives have names."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / name / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def quantized() -> ModuleType:
    return example("quantized")


@pytest.fixture(scope="session")
def records() -> ModuleType:
    return example("records")


@pytest.fixture(scope="session")
def units() -> ModuleType:
    return example("units")
