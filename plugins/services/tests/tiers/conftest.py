"""What tests of tiers share: a compiler of their own, whose process can be held."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from dovetail_backends import reference_rules
from dovetail_services.tiers import process as compilers
from dovetail_services.tiers.options import tiered


@pytest.fixture
def tiers_always(monkeypatch: pytest.MonkeyPatch) -> Iterator[compilers.Compiler]:
    """Tiers are always used, made by a new compiler, whose process ends with the test."""
    reference_rules.fill()  # or rules come while a program is compiled, which is traced again then
    made = compilers.Compiler()
    monkeypatch.setattr(compilers, "compiler", made)
    monkeypatch.setattr(compilers, "_warned", [])
    with tiered("always"):
        yield made
    made.close()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes do nothing until they are continued."""
    start = compilers._start

    def begin() -> subprocess.Popen[bytes]:
        made = start()
        os.kill(made.pid, signal.SIGSTOP)
        return made

    monkeypatch.setattr(compilers, "_start", begin)
