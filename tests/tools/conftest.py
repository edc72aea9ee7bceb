"""Fixtures for tests of the tools."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="session")
def load_tool() -> Callable[[str], ModuleType]:
    """A function that imports a module of the folder ``tools``, which find each other there."""

    def load(name: str) -> ModuleType:
        sys.path.insert(0, str(TOOLS))
        try:
            return import_module(name)
        finally:
            sys.path.remove(str(TOOLS))

    return load
