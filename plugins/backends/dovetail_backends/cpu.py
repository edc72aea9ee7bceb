"""The CPU backend: always available."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail_base.options import as_bool
from dovetail_base.plugin_calls import disable_with_warning
from dovetail_core import Option, config, registry
from dovetail_xla import ffi, options as xla_options

from .cpu_rules import options_for
from .pjrt.backend import PjrtBackend
from .pjrt.facts import ModuleFacts


def _count(value: Any) -> int:
    n = int(value)
    if n < 1:
        raise ValueError(f"expected a number of devices, at least 1, got {n}")
    if BACKEND.started and n != len(BACKEND.devices()):
        raise RuntimeError(
            f"the CPU is already in use as {len(BACKEND.devices())} device(s): set this before "
            "the first array is made, or by the environment variable DOVETAIL_NUM_CPU_DEVICES"
        )
    return n


_LARGEST_KEPT = (32 << 20) - (64 << 10)


def _keep_freed_memory() -> None:
    """Let the C library's allocator keep freed memory of arrays of up to 32 MB.

    glibc returns freed blocks of more than 128 kB to the system, so that a program with many
    results of such sizes has their pages mapped and cleared again at each call: one with 17 results
    of 256 kB takes from 1.2 to 2.6 times as long. The size of the largest block that was ever
    freed, up to 32 MB, becomes the new limit (mallopt(3), M_MMAP_THRESHOLD); the block made here is
    never written to. The limit is one of the process: memory that NumPy frees is kept, too.
    """
    block = np.empty(_LARGEST_KEPT, np.uint8)
    del block


FOREIGN = "backends.targets.cpu"
"""The collection whose members return foreign functions by name. They are registered before
programs are compiled or read from a cache, which may contain calls of them."""


def _register_targets() -> None:
    for name in registry().members(FOREIGN):
        try:
            for target, handler in registry().member(FOREIGN, name)().items():
                ffi.register_target(target, handler)
        except Exception as e:  # a plugin's library may fail in any way
            disable_with_warning(
                f"the foreign functions {name!r} of a plugin ({FOREIGN}) are set aside: {e} Repair "
                "the plugin's installation, or disable it (DOVETAIL_DISABLE_PLUGINS).",
                e,
            )


def _make_client() -> Any:
    from dovetail_xla.client import make_cpu_client

    if keep_freed_memory.value:
        _keep_freed_memory()
    _register_targets()
    processes = registry().provider("processes", None)
    joined = {} if processes is None else processes.cpu_client_options()
    return make_cpu_client(_device_count(), **joined)


_FLAG = r"--xla_force_host_platform_device_count=(\d+)"


def _device_count() -> int:
    """The option's value, or that of XLA's own flag."""
    flags = re.findall(_FLAG, os.environ.get("XLA_FLAGS", ""))
    if num_cpu_devices.value == 1 and flags:
        return max(int(flags[-1]), 1)
    return num_cpu_devices.value


def _options_for(facts: ModuleFacts | None) -> Mapping[str, Any]:
    return options_for(facts, lambda name: xla_options.option_exists(BACKEND.client, name))


BACKEND = PjrtBackend(
    "cpu", _make_client, priority=0, available=lambda: "", options_for=_options_for
)
num_cpu_devices = config.add(
    Option(
        "num_cpu_devices",
        1,
        "Into how many devices the CPU is divided; 1 leaves it to XLA_FLAGS "
        "(--xla_force_host_platform_device_count), where that says how many.",
        check=_count,
    )
)
keep_freed_memory = config.add(
    Option(
        "keep_freed_memory",
        False,
        "The process keeps memory of freed blocks of up to 32 MB, of whatever library, from the "
        "first use of the CPU on.",
        check=as_bool,
    )
)
