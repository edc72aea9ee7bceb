"""What all tests share: none leaves the import hook behind, and what they call once is compiled,
without XLA's optimisations, which would take most of their time; in full runs with them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from dovetail_base.environment import flag
from dovetail_testing.frozen_programs import freeze_programs
from dovetail_xla.callbacks import report_as_runtime_errors


def pytest_configure() -> None:
    """Unless the environment says otherwise; programs are immutable in any case."""
    freeze_programs()
    if not find_spec("dovetail_jit"):
        return
    from dovetail_jit.options import disable_most_optimizations, interpret_first_calls

    if "DOVETAIL_INTERPRET_FIRST_CALLS" not in os.environ:
        interpret_first_calls.state.set_global(0)
    if not flag("test_full"):
        disable_most_optimizations.state.set_global(True)


@pytest.fixture(autouse=True)
def without_the_hook() -> Iterator[None]:
    """Some tests import `dovetail.jax`, as all modules; others say that `jax` is not there."""
    before = list(sys.meta_path)
    yield
    if before == sys.meta_path or any(hasattr(f, "answers_for") for f in before):
        return
    sys.meta_path[:] = [f for f in sys.meta_path if not hasattr(f, "answers_for")]
    for name in [n for n in sys.modules if n == "jax" or n.startswith("jax.")]:
        del sys.modules[name]
    report_as_runtime_errors(False)


@pytest.fixture
def optimized() -> Iterator[None]:
    """Programs of this test are compiled as those of users are."""
    from dovetail_jit.options import disable_most_optimizations

    with disable_most_optimizations(False):
        yield
