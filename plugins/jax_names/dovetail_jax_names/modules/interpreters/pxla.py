"""``jax.interpreters.pxla``: compile options, and names that JAX deprecates."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from dovetail_core import ShapedArray
from dovetail_xla import execution, options

from ...absence import VERSION

global_result_handlers: dict[type, Callable[..., Any]] = {ShapedArray: execution.result_handler}
"""By class of types: ``make(aval, sharding, committed)`` returns what turns shards to an array."""


class ResultsHandler:
    """Handlers that make arrays of the results of a run, one for each result."""

    def __init__(self, handlers: Sequence[Any], out_shardings: Sequence[Any]) -> None:
        self.handlers = list(handlers)
        self.out_shardings = list(out_shardings)

    def __call__(self, out_bufs: Sequence[Any]) -> list[Any]:
        return [handler(shards) for handler, shards in zip(self.handlers, out_bufs, strict=True)]


def global_aval_to_result_handler(aval: Any, out_sharding: Any, committed: bool) -> Any:
    """The handler that makes an array of the shards of one result."""
    return global_result_handlers[type(aval)](aval, out_sharding, committed)


def global_avals_to_results_handler(
    global_out_avals: Sequence[Any], shardings: Sequence[Any], committed: bool
) -> ResultsHandler:
    """The handlers that make arrays of the results of a run."""
    handlers = [
        global_aval_to_result_handler(aval, s, committed)
        for aval, s in zip(global_out_avals, shardings, strict=True)
    ]
    return ResultsHandler(handlers, shardings)


_DEPRECATED: dict[str, Any] = {
    "ArrayMapping": OrderedDict,
    "Index": int | slice | tuple[int | slice, ...],
    "MeshAxisName": Hashable,
    "global_aval_to_result_handler": global_aval_to_result_handler,
    "global_avals_to_results_handler": global_avals_to_results_handler,
    "global_result_handlers": global_result_handlers,
}
_REMOVED = frozenset(
    "Chunked MapTracer NoSharding PmapExecutable Replicated ShardedAxis ShardingSpec Unstacked "
    "parallel_callable shard_args spec_to_indices".split()
)


def create_compile_options(
    computation: Any,
    tuple_args: bool,
    allow_prop_to_inputs: Sequence[bool],
    allow_prop_to_outputs: Sequence[bool],
    backend: Any,
    np_dev: Any,
    compiler_options: Mapping[str, Any] | None,
) -> Any:
    """Options for the client's own compiler, of a program partitioned over ``np_dev``."""
    made = options.compile_options(
        backend,
        num_partitions=np_dev.size,
        device_ids=[d.id for d in np_dev.flat],
        propagate_to_parameters=allow_prop_to_inputs,
        propagate_to_outputs=allow_prop_to_outputs,
        compiler_options=compiler_options,
    )
    made.parameter_is_tupled_arguments = tuple_args
    return made


def __getattr__(name: str) -> Any:
    full = f"jax.interpreters.pxla.{name}"
    if name in _DEPRECATED:
        warnings.warn(f"{full} is deprecated in JAX", DeprecationWarning, stacklevel=2)
        return _DEPRECATED[name]
    text = f"module 'jax.interpreters.pxla' has no attribute {name!r}"
    if name in _REMOVED:
        text = f"JAX {VERSION} has no {full} any more"
    raise AttributeError(text)
