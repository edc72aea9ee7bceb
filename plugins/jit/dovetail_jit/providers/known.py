"""The providers that come with ``jit``, without what they are made of: for the manifest."""

from __future__ import annotations

from dovetail_xla import fork

from ..call.providers import ExecutableProvider
from ..call.request import Request
from ..disk_cache.options import cache_dir
from ..options import by_parts_after, interpret_first_calls


def _of_small_operations(request: Request) -> bool:
    if not (request.is_operation and request.may_be_provisional):
        return False
    return request.partition is None and bool(interpret_first_calls.value)


def _of_divided_operations(request: Request) -> bool:
    return request.is_operation and request.partition is not None and bool(by_parts_after.value)


def _of_whole_programs(request: Request) -> bool:
    # A forked process can neither load nor compile; compiling says so.
    is_default = request.key.profile == "default"
    return is_default and cache_dir.value is not None and not fork.forked()


def _of_calls(request: Request) -> bool:
    return request.key.profile == "default" and not request.is_asked_for


NUMPY_FALLBACK = ExecutableProvider(
    "numpy_fallback",
    "dovetail_jit.providers.numpy_fallback:get",
    _of_small_operations,
    before=("per_shard_calls",),
)
PER_SHARD_CALLS = ExecutableProvider(
    "per_shard_calls",
    "dovetail_jit.providers.per_shard_calls:get",
    _of_divided_operations,
    before=("disk_cache",),
)
DISK_CACHE = ExecutableProvider(
    "disk_cache",
    "dovetail_jit.disk_cache.provider:get",
    _of_whole_programs,
    before=("equal_modules",),
)
EQUAL_MODULES = ExecutableProvider(
    "equal_modules", "dovetail_jit.providers.equal_modules:get", _of_calls
)
