"""Modules of JAX that have no code of their own here, and import their names from where they are.

Each is named by its path below ``jax``, with underscores.
"""

from __future__ import annotations

from types import ModuleType

from ..lookup import module_of


def _sparse(name: str) -> ModuleType:
    """``jax.experimental.sparse.<name>``, with the names that JAX defines there."""
    module = f"jax.experimental.sparse.{name}"
    return module_of(module, f"``{module}``.", facade="dovetail.experimental.sparse")


def _empty(module: str, package: bool = False) -> ModuleType:
    """A public module of JAX whose names are not there yet."""
    doc = f"``{module}``, of which nothing is there yet: each name says so when it is imported."
    return module_of(module, doc, package=package)


cloud_tpu_init = module_of("jax.cloud_tpu_init", "``jax.cloud_tpu_init``: no public names.")
custom_derivatives = module_of(
    "jax.custom_derivatives",
    "``jax.custom_derivatives``: the facade's, and primitives that libraries know by name.",
    {
        "custom_jvp_call_p": "dovetail_custom_rules:custom_jvp_call_p",
        "custom_vjp_call_p": "dovetail_custom_rules:custom_vjp_call_p",
    },
    facade="dovetail.custom_derivatives",
)
errors = module_of(
    "jax.errors",
    "``jax.errors``: the facade's, and one that is about dimensions that are symbols.",
    {
        "InconclusiveDimensionOperation": (
            "dovetail_jax_names.extending.types:InconclusiveDimensionOperation"
        )
    },
    facade="dovetail.errors",
)
export = _empty("jax.export")
ffi = _empty("jax.ffi")
lib = module_of(
    "jax.lib",
    "``jax.lib``: a package, which is empty since JAX 0.10; libraries look there for what it had.",
    package=True,
)
version = module_of(
    "jax.version",
    "``jax.version``.",
    {name: f"dovetail_jax_names.root:{name}" for name in ("__version__", "__version_info__")},
)

extend_ifrt_programs = module_of(
    "jax.extend.ifrt_programs",
    "``jax.extend.ifrt_programs``: programs of the runtime beside those of XLA (orbax).",
    {"ifrt_programs": "dovetail_xla.execution:ifrt_programs"},
)

experimental_key_reuse = module_of(
    "jax.experimental.key_reuse",
    "``jax.experimental.key_reuse``: no public names; see the option ``debug_key_reuse``.",
)
# Libraries import pallas at their top.
experimental_pallas = _empty("jax.experimental.pallas", package=True)
experimental_pallas_fuser = _empty("jax.experimental.pallas.fuser")
experimental_pallas_mosaic_gpu = _empty("jax.experimental.pallas.mosaic_gpu")
experimental_pallas_tpu = _empty("jax.experimental.pallas.tpu")
experimental_pallas_triton = _empty("jax.experimental.pallas.triton")
experimental_pjit = module_of(
    "jax.experimental.pjit",
    "``jax.experimental.pjit``: ``jit`` by its old name (orbax, brax).",
    old={"pjit": "jax.jit"},
)
experimental_shard_map = module_of(
    "jax.experimental.shard_map",
    "``jax.experimental.shard_map``: ``shard_map`` as it was, with its options by position.",
    old={"shard_map": ("dovetail.experimental.shard_map.shard_map", "jax.shard_map")},
)
experimental_sparse_ad = _sparse("ad")
experimental_sparse_api = _sparse("api")
experimental_sparse_bcoo = _sparse("bcoo")
experimental_sparse_bcsr = _sparse("bcsr")
experimental_sparse_coo = _sparse("coo")
experimental_sparse_csr = _sparse("csr")
experimental_sparse_random = _sparse("random")
experimental_sparse_transform = _sparse("transform")
experimental_sparse_util = _sparse("util")
