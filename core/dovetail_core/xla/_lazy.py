"""Parts of jaxlib that cost time to import and have no types: loaded by name where first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(name: str) -> Any:
    """The module `jaxlib.<name>`."""
    return import_module(f"jaxlib.{name}")


def xla_client() -> Any:
    """The module that makes clients and registers foreign functions."""
    return load("xla_client")
