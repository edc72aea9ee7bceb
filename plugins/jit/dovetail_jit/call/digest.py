"""The identity of a compiled program as bytes that are equal in every process."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_core import registry
from dovetail_hooks import has_hooks, manager
from dovetail_xla import transforms

_VARIABLES = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")


def program_key(module: LoweredModule, device: Any, options: Mapping[str, Any]) -> bytes:
    """32 bytes for the program, its options, its device and who compiles it."""
    facts = (
        module.platform, _devices(module, device), _whose_backend(module.platform),
        *facts_of_compiling(options),
    )  # fmt: skip
    digest = hashlib.sha256(repr(facts).encode())
    digest.update(module.text.encode())
    return digest.digest()


def facts_of_compiling(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The facts on which a compilation depends beside the program: options, compilers,
    variables."""
    compilers: list[str] = []
    if has_hooks("dovetail_compile"):
        names = [i.plugin_name for i in manager().hook.dovetail_compile.get_hookimpls()]
        plugins = registry().plugins
        compilers = [plugins[n].whose if n in plugins else n for n in names]
    compilers += transforms.names()
    variables = [os.environ.get(name, "") for name in _VARIABLES]
    return sorted(options.items()), compilers, variables


def _whose_backend(platform: str) -> str:
    """The plugin with the backend of a platform, which may add options of its own, and its
    version."""
    result = registry()
    return (
        result.owner("backends", platform).whose if platform in result.entries("backends") else ""
    )


def _devices(module: LoweredModule, device: Any) -> Any:
    """The devices, and whose shardings the compiler chose: its text says that of no other."""
    part = module.partition
    if part is None:
        return device.id
    return part.ids, [s is None for s in part.ins], [s is None for s in part.outs]
