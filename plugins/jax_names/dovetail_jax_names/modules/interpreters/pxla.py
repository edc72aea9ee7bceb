"""``jax.interpreters.pxla``: compile options, and names that JAX deprecates."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from dovetail_xla import options

from ... import results
from ...absence import VERSION

_DEPRECATED: dict[str, Any] = {
    "ArrayMapping": OrderedDict,
    "Index": int | slice | tuple[int | slice, ...],
    "MeshAxisName": Hashable,
    "global_aval_to_result_handler": results.global_aval_to_result_handler,
    "global_avals_to_results_handler": results.global_avals_to_results_handler,
    "global_result_handlers": results.global_result_handlers,
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
