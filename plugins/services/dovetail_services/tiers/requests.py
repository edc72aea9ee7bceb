"""Requests to the process that compiles, and its answers.

What XLA's runtime prepares when a program runs first, such as the products of matrices of its
libraries, takes up to a tenth of a second. So the thread that loads an answer runs it once on
zeros, ahead of the call that takes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from dovetail_backends import LoweredModule
from dovetail_core import config
from dovetail_cost import nbytes
from dovetail_xla import execution
from dovetail_xla.arrays import put
from dovetail_xla.client import device_list
from dovetail_xla.execution import run_ahead

_CACHE = ("compilation_cache", "persistent_cache")
LARGEST = 1 << 28
"""The most bytes of arguments and results of a program that is run on zeros."""
_UNKNOWN = frozenset(("while", "custom_call"))
"""Operations of programs that are not run on zeros: a loop may not end on them, and the effects of
foreign functions are not known."""


def request(
    module: LoweredModule, device: Any, options: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes]:
    """A header and a body: the program, and the options that hold here."""
    header = {
        "name": module.name,
        "device": device.id,
        "options": dict(options),
        "settings": _settings(device),
    }
    return header, module.text.encode()


def _settings(device: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"num_cpu_devices": len(device.client.devices())}
    for name in config.names():
        if name.startswith(_CACHE):
            value = config.read(name)
            if value is None or isinstance(value, (bool, int, float, str)):
                result[name] = value
    folder = result.get("compilation_cache_dir")
    if folder:
        result["compilation_cache_dir"] = os.path.abspath(os.path.expanduser(folder))
    return result


def load(module: LoweredModule, device: Any, body: bytes) -> Any:
    """Return the runtime's executable, which has run once if that has no effects."""
    loaded = execution.deserialize(device.client, body, device_list([device]))
    if can_run_ahead(module):
        run_on_zeros(loaded, module, device)
    return loaded


def can_run_ahead(module: LoweredModule) -> bool:
    """Tell whether a program may run on zeros: it ends, only computes, and is not large."""
    if module.effects or module.host_callbacks:
        return False
    facts = module.facts()
    if facts is None or not _UNKNOWN.isdisjoint(facts.computations):
        return False
    return sum(map(nbytes, (*module.in_avals, *module.out_avals))) <= LARGEST


def run_on_zeros(loaded: Any, module: LoweredModule, device: Any) -> None:
    """Run a program on zeros and wait for it; a failure is left to the call that runs it."""
    with suppress(Exception):
        zeros = [put(np.zeros(a.shape, a.dtype), a, device) for a in module.in_avals]
        run_ahead(loaded, zeros)
