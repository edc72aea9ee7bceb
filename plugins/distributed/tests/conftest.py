"""Programs of several processes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from .processes import run_program


@pytest.fixture
def run(tmp_path) -> Any:
    """Run a program by several processes; what became of each."""
    return partial(run_program, tmp_path)
