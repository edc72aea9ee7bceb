"""What the README shows is what happens."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_readme():
    path = Path(__file__).parents[1] / "README.md"
    found = doctest.testfile(str(path), module_relative=False)
    assert found.attempted > 10 and found.failed == 0
