"""A third party's backend, as if it were installed."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

import pytest

from dovetail_core.registry import discovery
from dovetail_core.testing import fresh_registry

from . import backends


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The plugin ``conformance`` is installed meanwhile."""
    found = importlib.metadata.entry_points(group=discovery.GROUP)
    target = f"{backends.__name__}:MANIFEST"
    mine = importlib.metadata.EntryPoint("conformance", target, discovery.GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **kw: (*found, mine))
    with fresh_registry():
        yield
