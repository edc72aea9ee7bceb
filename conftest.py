"""What all tests share: none leaves the import hook behind, and what they call once is compiled."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("DOVETAIL_INTERPRET_FIRST_CALLS", "0")  # read at the import

from dovetail_core.xla.callbacks import report_as_runtime_errors


@pytest.fixture(autouse=True)
def without_the_hook() -> Iterator[None]:
    """Some tests import `dovetail.jax`, as all modules; others say that `jax` is not there."""
    before = list(sys.meta_path)
    yield
    if before == sys.meta_path or any(hasattr(f, "stands_in_for") for f in before):
        return
    sys.meta_path[:] = [f for f in sys.meta_path if not hasattr(f, "stands_in_for")]
    for name in [n for n in sys.modules if n == "jax" or n.startswith("jax.")]:
        del sys.modules[name]
    report_as_runtime_errors(False)
