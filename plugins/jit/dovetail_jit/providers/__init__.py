"""The providers of executables that come with ``jit``, as the manifest names them."""

from __future__ import annotations

from ..call.providers import ExecutableProvider
from ..call.request import Request
from ..options import by_parts_after, interpret_first_calls


def _of_small_operations(request: Request) -> bool:
    if not (request.is_operation and request.may_be_provisional):
        return False
    return request.partition is None and bool(interpret_first_calls.value)


def _of_divided_operations(request: Request) -> bool:
    return request.is_operation and request.partition is not None and bool(by_parts_after.value)


def _of_calls(request: Request) -> bool:
    return request.key.profile == "default" and not request.is_explicit


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
EQUAL_MODULES = ExecutableProvider(
    "equal_modules", "dovetail_jit.providers.equal_modules:get", _of_calls
)
