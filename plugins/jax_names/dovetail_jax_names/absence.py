"""Why a name of JAX is not there: what JAX has, and what becomes of it here."""

from __future__ import annotations

from importlib import import_module

from . import names
from .hook import is_installed
from .usage import usage

VERSION = "0.10.2"
"""The release of JAX whose interface this is."""

_GPUS_ALONE = "JAX has it for GPUs alone; jax.lax.ppermute sends and receives"
_PRIMITIVES = "jax.extend.core.primitives"
_NO_TOKENS = "effects that are ordered keep their order without tokens"
_REASONS = {
    "jax.custom_derivatives.remat_opt_p": "optimize_remat is said to the forward function",
    "jax.experimental.control_deps": "it is a call of a foreign function that XLA knows on TPUs",
    "jax.experimental.fused": "it is on trial in JAX, for hardware that Dovetail is not tested on",
    "jax.experimental.pallas": "kernels written in Python are planned",
    "jax.experimental.rnn": "it is written for cuDNN; flax.linen.OptimizedLSTMCell has cells",
    "jax.experimental.sparse": "of sparse arrays it has neither the primitives nor the tracer",
    "jax.experimental.transfer": "arrays go between processes by device_put, within one program",
    "jax.export": "exported and stored programs are planned",
    "jax.extend.backend.register_backend_factory": "plugins bring backends",
    "jax.extend.core.AbstractToken": _NO_TOKENS,
    "jax.extend.core.Token": _NO_TOKENS,
    f"{_PRIMITIVES}.custom_lin_p": "programs have a primitive of its own for each derivative",
    f"{_PRIMITIVES}.empty2_p": "nothing here makes arrays without contents",
    "jax.extend.pallas": "kernels written in Python are planned",
    "jax.extend.sharding.xla_client": "it is jaxlib.xla_client",
    "jax.ffi": "calls of foreign functions are planned",
    "jax.interpreters.ad.annotations": "it is Python's __future__.annotations",
    "jax.interpreters.partial_eval.partial_eval_jaxpr_custom_rules": (
        "a program is split by running it (custom_partial_eval_rules), not equation by equation"
    ),
    "jax.lax.after_all": _NO_TOKENS,
    "jax.lax.create_token": _NO_TOKENS,
    "jax.lax.precv": _GPUS_ALONE,
    "jax.lax.psend": _GPUS_ALONE,
}
"""By module, or name; each holds for what is below it, too."""


_REMOVED = {
    "jax.DeviceArray": "jax.Array",
    "jax.abstract_arrays": "jax.core.ShapedArray",
    "jax.clear_backends": "jax.extend.backend.clear_backends",
    "jax.linear_util": "jax.extend.linear_util",
    "jax.experimental.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.experimental.global_device_array": "jax.make_array_from_callback",
    "jax.experimental.host_callback": "jax.pure_callback or jax.experimental.io_callback",
    "jax.experimental.loops": "jax.lax.fori_loop or jax.lax.scan",
    "jax.experimental.maps": "jax.shard_map, and jax.sharding.Mesh",
    "jax.experimental.optimizers": "jax.example_libraries.optimizers, or optax",
    "jax.experimental.stax": "jax.example_libraries.stax, or flax",
    "jax.lax.tie_in": "the value itself",
    "jax.nn.normalize": "jax.nn.standardize",
    "jax.numpy.DeviceArray": "jax.Array",
    "jax.numpy.alltrue": "jax.numpy.all",
    "jax.numpy.cumproduct": "jax.numpy.cumprod",
    "jax.numpy.in1d": "jax.numpy.isin",
    "jax.numpy.msort": "jax.numpy.sort",
    "jax.numpy.product": "jax.numpy.prod",
    "jax.numpy.round_": "jax.numpy.round",
    "jax.numpy.row_stack": "jax.numpy.vstack",
    "jax.numpy.sometrue": "jax.numpy.any",
    "jax.numpy.trapz": "jax.numpy.trapezoid",
    "jax.ops.index_add": "x.at[...].add(...)",
    "jax.ops.index_update": "x.at[...].set(...)",
    "jax.random.shuffle": "jax.random.permutation",
    "jax.sharding.PositionalSharding": "jax.sharding.NamedSharding",
    "jax.tree_multimap": "jax.tree.map",
    "jax.xla_computation": "jax.jit(f).lower(...)",
}
for _name in ("flatten", "leaves", "map", "reduce", "structure", "transpose", "unflatten"):
    _REMOVED[f"jax.tree_{_name}"] = f"jax.tree.{_name}"
"""Names that JAX had, and what does the same."""


PRIVATE = "It is private in JAX, and no library is known to need it: use a public name."
"""What is said of JAX's private names that nothing here answers for."""


def is_expected(full: str) -> bool:
    """True if a name is below one that is known to be missing, public or not."""
    return any(f"{full}.".startswith(f"{prefix}.") for prefix in _REASONS)


def reason(module: str, name: str) -> str:
    """A sentence on a name that the facade, or what stands for JAX, does not have.

    Args:
        module: ``"dovetail.numpy"`` or ``"jax.numpy"``.
    """
    theirs = ".".join(["jax", *module.split(".")[1:]])
    full = f"{theirs}.{name}"
    if full.startswith("jax._src."):
        usage.missing(full)
        return PRIVATE
    is_known = names.knows(theirs, name)
    if not is_known and (names.names_of(theirs) or not is_expected(full)):
        if module.startswith("dovetail") and not is_installed():
            return ""
        now = f": use {_REMOVED[full]}" if full in _REMOVED else ""
        return f"JAX {VERSION} has no public name {full}{now}."
    usage.missing(full)
    why = _why(full)
    here = f"Dovetail does not have it: {why}" if why else "Dovetail does not have it"
    return f"JAX {VERSION} has {full if is_known else theirs}. {here} (docs/coverage.md)."


def _why(full: str) -> str:
    """The reason recorded for a name or for a module above it; an empty string if there is none."""
    return next((r for prefix, r in _REASONS.items() if f"{full}.".startswith(f"{prefix}.")), "")


def reason_of_empty(full: str) -> str:
    """A sentence on a module that can be imported, and that has none of JAX's names."""
    return (
        "the import succeeds; using one of its names raises an error that says what is missing: "
        f"{_why(full)} (docs/coverage.md)."
    )


def reason_of_module(parent: str, name: str) -> str:
    """A sentence on a module of JAX that cannot be imported; it may be another attribute."""
    full = f"{parent}.{name}"
    if hasattr(import_module(parent), name) and not full.startswith("jax._src."):
        return f"In JAX {VERSION}, {full} is no module: say `from {parent} import {name}`."
    return reason(parent, name)
