"""Registering foreign functions with XLA, for custom calls of every platform."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from . import bindings as _b
from .loading import load, xla_client


def register_target(name: str, handler: Any, platform: str = "cpu", api_version: int = 1) -> None:
    """Makes `stablehlo.custom_call @name` reach `handler` in programs compiled from now on.

    `handler` is a capsule, or a dict of capsules by stage (`{"execute": capsule}`).
    """
    xla_client().register_custom_call_target(
        name, handler, platform=platform, api_version=api_version
    )


def register_type(name: str, type_info: Mapping[str, Any], platform: str = "cpu") -> None:
    """Registers a state type of foreign functions: `{"type_id": capsule, "type_info": capsule}`."""
    xla_client().register_custom_type(name, type_info, platform=platform)


def registered_targets(platform: str = "Host") -> list[str]:
    """The names that programs of a platform ("Host", "CUDA", ...) can call."""
    return sorted(_b.custom_call_targets(platform))


def capsule(function_pointer: Any) -> Any:
    """A handler capsule from a `ctypes` function, such as `ctypes.CDLL(path).my_handler`."""
    import ctypes

    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.cast(function_pointer, ctypes.c_void_p), None, None)


def include_dir() -> str:
    """The directory of the C++ headers for writing handlers (`xla/ffi/api/ffi.h`)."""
    return str(Path(load("version").__file__).parent / "include")


def attach_plugin(platform: str, c_api: Any, extension: Any) -> None:
    """Lets foreign functions register with a platform whose PJRT plugin is loaded.

    `c_api` is what `client.load_plugin` returned; `extension` is the plugin's extension module,
    whose own types and handlers are registered too. Works without the platform's hardware.
    """
    client = xla_client()
    client.register_custom_type_handler(platform, partial(extension.register_custom_type, c_api))
    client.register_custom_call_handler(
        platform, partial(extension.register_custom_call_target, c_api)
    )
    for name, type_info in extension.ffi_types().items():
        register_type(name, type_info, platform)
    for name, handler in extension.ffi_handlers().items():
        register_target(name, handler, platform)


_GPU_LIBRARIES = ("gpu_solver", "gpu_linalg", "gpu_prng", "gpu_sparse")


def register_gpu_libraries(platform: str) -> int:
    """Registers the GPU math libraries of a platform ("CUDA", "ROCM"); returns how many targets.

    It is 0 if the platform's plugin package is not installed.
    """
    load("gpu_rnn")  # registers its targets, if any, by being imported
    count = 0
    for library in _GPU_LIBRARIES:
        targets = load(library).registrations().get(platform, ())
        for name, handler, api_version in targets:
            register_target(name, handler, platform, api_version)
            count += 1
    return count


_in_batches: set[str] = set()


def divide_batches(name: str) -> None:
    """Lets XLA divide custom calls of a target along leading dimensions, as many as the frontend
    attribute `num_batch_dims` gives: each device calls it for the elements that it has."""
    if name not in _in_batches:
        xla_client().register_custom_call_as_batch_partitionable(name)
        _in_batches.add(name)


def on_sharding(callback: Any) -> bytes:
    """The configuration of a custom call of `InspectSharding`, whose compilation calls `callback`
    with the `HloSharding` of the operand. `callback` must be kept alive until then."""
    return xla_client().encode_inspect_sharding_callback(callback)


def register_partitioner(name: str, propagate: Any, partition: Any, infer: Any) -> None:
    """Sets the three functions by which XLA divides custom calls of a target among devices.

    `partition(operand_shapes, operand_shardings, result_shape, result_sharding, backend_config)`
    returns the program of one device, as MLIR bytecode, and the shardings of operands and result;
    the other two return a sharding of the result, from that of its user and from those of operands.
    """
    xla_client().register_custom_call_partitioner(name, propagate, partition, infer, True)
