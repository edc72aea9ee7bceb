"""Compile options: profiles for ordinary and for one-operation programs, and the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .bindings import (
    Client,
    CompileOptions as CompileOptions,
    DeviceAssignment,
    DeviceList,
    JaxRuntimeError,
)

OptionValue = str | bool | int | float
Profile = Literal["default", "quick"]

# "quick": level 0 and no fusion emitters compile programs two to three times faster on the CPU.
# They run up to ten times as long: for one-operation programs, and where users ask for level 0.
LEVEL = "xla_backend_optimization_level"
_QUICK_LEVEL = 0
_QUICK_OVERRIDE = ("xla_cpu_use_fusion_emitters", False)


def compile_options(
    client: Client,
    profile: Profile = "default",
    *,
    num_replicas: int = 1,
    num_partitions: int = 1,
    device_ids: Sequence[int] | None = None,
    propagate_to_outputs: Sequence[bool] | None = None,
    propagate_to_parameters: Sequence[bool] | None = None,
    compiler_options: Mapping[str, OptionValue] | None = None,
) -> CompileOptions:
    """Options for `execution.compile`, for programs of `num_replicas * num_partitions` devices.

    `device_ids` lists the devices in row-major (replica, partition) order; without it the device
    list given to `compile` decides. `propagate_to_*` leave the sharding of a result or argument
    to the partitioner. Raises TypeError for a compiler option whose value is not a scalar.
    """
    options = CompileOptions()
    build = options.executable_build_options
    for part in (options, build):
        part.num_replicas, part.num_partitions = num_replicas, num_partitions
    build.use_spmd_partitioning = num_partitions > 1
    # Always: a module with Shardy annotations aborts the process on jaxlib 0.12 without it.
    build.use_shardy_partitioner = True
    if propagate_to_outputs is not None:
        build.allow_spmd_sharding_propagation_to_output = list(propagate_to_outputs)
    if propagate_to_parameters is not None:
        build.allow_spmd_sharding_propagation_to_parameters = list(propagate_to_parameters)
    if device_ids is not None:
        grid = np.asarray(device_ids, np.int32).reshape(num_replicas, num_partitions)
        options.device_assignment = DeviceAssignment.create(grid)
    given = _checked(compiler_options or {})
    overrides, on_cpu = list(given.items()), client.platform == "cpu"
    quick = on_cpu and profile == "quick"
    if quick:
        build.debug_options.xla_backend_optimization_level = _QUICK_LEVEL
    if (quick or (on_cpu and given.get(LEVEL) == _QUICK_LEVEL)) and option_exists(
        client, _QUICK_OVERRIDE[0]
    ):
        overrides.insert(0, _QUICK_OVERRIDE)  # what is given of it comes later, and wins
    options.env_option_overrides = overrides
    return options


def _checked(compiler_options: Mapping[str, Any]) -> Mapping[str, OptionValue]:
    for name, value in compiler_options.items():
        if not isinstance(value, (str, bool, int, float)):
            raise TypeError(
                f"the compiler option {name!r} has a value of type {type(value).__name__}: "
                "give a str, bool, int or float"
            )
    return compiler_options


_known: dict[tuple[str, str], bool] = {}
_PROBE = "module { func.func public @main() { return } }"
_NEVER_AN_OPTION = "dovetail_not_an_option"


def option_exists(client: Client, name: str) -> bool:
    """Return whether this client's compiler knows the option; once per platform it takes 2 ms."""
    key = (client.platform, name)
    if key not in _known:
        # Options are read in order before anything is compiled, so the second name, which no
        # compiler knows, stops the attempt early; the message says which name was met first.
        options = CompileOptions()
        options.env_option_overrides = [(name, ""), (_NEVER_AN_OPTION, "")]
        try:
            client.compile_and_load(_PROBE, DeviceList((client.local_devices()[0],)), options)
        except JaxRuntimeError as error:
            _known[key] = f"No such compile option: '{name}'" not in str(error)
        else:
            _known[key] = True
    return _known[key]


class CompilerOptionError(JaxRuntimeError, ValueError):
    """The compiler does not know an option, or does not take its value."""


class _OptionErrors:
    """A context that raises CompilerOptionError for a compile failure that an option caused."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> Literal[False]:
        if isinstance(error, JaxRuntimeError):
            for marker, problem in _OPTION_PROBLEMS:
                if marker in str(error):
                    rest = str(error).split(marker, 1)[1].splitlines()[0].rstrip(".")
                    raise CompilerOptionError(
                        f"{problem}{rest}; check `compiler_options` "
                        "(names are XLA's debug option fields)"
                    ) from error
        return False


_OPTION_PROBLEMS = (
    ("No such compile option: ", "unknown compiler option "),
    ("While setting option ", "compiler option "),
)
option_errors = _OptionErrors()
"""`with option_errors: client.compile(...)`."""
