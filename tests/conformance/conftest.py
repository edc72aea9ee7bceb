"""A third party's backend, as if it were installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dovetail_base import entry_points as entries
from dovetail_core.registry import discovery
from dovetail_testing import fresh_registry

from . import backends


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The plugin ``conformance`` is installed meanwhile."""
    result, problems = entries.installed(discovery.GROUP)
    target = f"{backends.__name__}:MANIFEST"
    mine = entries.Entry("conformance", target, "?", "?")
    monkeypatch.setattr(entries, "installed", lambda group: ([*result, mine], problems))
    with fresh_registry():
        yield
