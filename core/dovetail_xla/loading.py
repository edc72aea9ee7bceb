"""Parts of jaxlib that cost time to import and have no types: loaded by name where first needed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from .interrupts import can_be_interrupted, run_to_the_end


def load(name: str) -> Any:
    """The module `jaxlib.<name>`.

    Another thread does the import, since signals interrupt the main thread alone: an extension
    module whose import was interrupted is incomplete, and the next import would crash the process.
    """
    full = f"jaxlib.{name}"
    if full not in sys.modules and can_be_interrupted():
        return run_to_the_end(lambda: import_module(full), f"the import of {full}")
    return import_module(full)


def xla_client() -> Any:
    """The module that makes clients and registers foreign functions."""
    return load("xla_client")
