"""The options of the disk cache, with JAX's names for those that JAX has, and its provider."""

from __future__ import annotations

import os
from typing import Any

from dovetail_base.options import as_bool
from dovetail_core import Option, config
from dovetail_jit import ExecutableProvider, Request
from dovetail_xla import fork


def _directory(value: Any) -> str | None:
    return os.fspath(value) if value else None  # an empty name is no directory, not this one


def _size(value: Any) -> int:
    size = int(value)
    if size < -1:
        raise ValueError(f"expected a number of bytes, or -1 for no limit, got {value!r}")
    return size


cache_dir = config.add(
    Option(
        "compilation_cache_dir",
        None,
        "Directory of the on-disk compilation cache; None or an empty string: no cache.",
        check=_directory,
    )
)
cache_max_size = config.add(
    Option(
        "compilation_cache_max_size",
        -1,
        "How many bytes the entries of the cache may take: those used longest ago are deleted. "
        "-1: no limit; 0: no cache.",
        check=_size,
    )
)
cache_min_seconds = config.add(
    Option(
        "persistent_cache_min_compile_time_secs",
        0.0,
        "Programs that compile faster than this are not written to the cache.",
        check=float,
    )
)
cache_min_bytes = config.add(
    Option(
        "persistent_cache_min_entry_size_bytes",
        0,
        "Entries smaller than this are not written to the cache.",
        check=_size,
    )
)
cache_signed = config.add(
    Option(
        "compilation_cache_signed",
        False,
        "Entries are signed with a secret of the user, and only such entries are loaded: the "
        "directory may then be one that others write to.",
        check=as_bool,
    )
)


def _applies(request: Request) -> bool:
    # A forked process can neither load nor compile; compiling says so.
    is_default = request.key.profile == "default"
    return is_default and cache_dir.value is not None and not fork.forked()


PROVIDER = ExecutableProvider(
    "disk_cache",
    "dovetail_services.disk_cache.provider:get",
    _applies,
    before=("equal_modules",),
)
