"""Manifest of the plugin ``jax_names``: programs that say ``import jax`` run as they are."""

from dovetail_core import Manifest

_ANSWERS = (
    "cloud_tpu_init",
    "custom_derivatives",
    "errors",
    "experimental.key_reuse",
    "experimental.pallas",
    "experimental.pallas.fuser",
    "experimental.pallas.mosaic_gpu",
    "experimental.pallas.tpu",
    "experimental.pallas.triton",
    "experimental.pjit",
    "experimental.shard_map",
    "experimental.sparse.ad",
    "experimental.sparse.api",
    "experimental.sparse.bcoo",
    "experimental.sparse.bcsr",
    "experimental.sparse.coo",
    "experimental.sparse.csr",
    "experimental.sparse.random",
    "experimental.sparse.transform",
    "experimental.sparse.util",
    "export",
    "extend.ifrt_programs",
    "ffi",
    "lib",
    "version",
)
"""Modules of ``modules/answers.py``, by their path below ``jax``."""

_PRIVATE_ANSWERS = (
    "ad_util",
    "checkify",
    "distributed",
    "flatten_util",
    "interpreters",
    "interpreters.pxla",
    "pjit",
    "state",
    "state.types",
)
"""Modules of ``private/answers.py``, by their path below ``jax._src``."""

MANIFEST = Manifest(
    "jax_names",
    requires=(
        "ad",
        "backends",
        "batching",
        "checkify",
        "custom_rules",
        "distributed",
        "experimental",
        "jit",
        "lax",
        "numpy",
        "random",
        "refs",
        "remat",
    ),
    names={
        "lax.after_all_p": "dovetail_jax_names.extending.primitive:after_all_p",
        "lax.create_token_p": "dovetail_jax_names.extending.primitive:create_token_p",
        "lax.linear_solve_p": "dovetail_custom_rules.linear_solve:linear_solve_p",
        "lax.select_and_scatter_p": "dovetail_jax_names.extending.primitive:select_and_scatter_p",
    },
    surfaces={"jax": "dovetail_jax_names"},
    commands={
        "check": "dovetail_jax_names.commands.check",
        "run": "dovetail_jax_names.commands.run",
    },
    options={"as_jax": "dovetail_jax_names.options:as_jax"},
    providers={
        "absence": "dovetail_jax_names.absence:reason",
        "debug_info": "dovetail_jax_names.debug_info:of_program",
        "pickles": "dovetail_jax_names.pickles:reduced",
    },
    members={
        "jax.modules._src": "dovetail_jax_names.private",
        # asdex: dce_jaxpr; what JAX's public module has, the private one has.
        "jax.modules._src.interpreters.partial_eval": (
            "dovetail_jax_names.modules.interpreters.partial_eval"
        ),
        "jax.modules.api_util": "dovetail_jax_names.modules.api_util",
        "jax.modules.core": "dovetail_jax_names.modules.core",
        "jax.modules.experimental": "dovetail_jax_names.modules.experimental",
        "jax.modules.extend": "dovetail_jax_names.modules.extend",
        "jax.modules.extend.mlir.dialects": "jaxlib.mlir.dialects",
        "jax.modules.extend.mlir.ir": "jaxlib.mlir.ir",
        "jax.modules.extend.mlir.passmanager": "jaxlib.mlir.passmanager",
        "jax.modules.interpreters": "dovetail_jax_names.modules.interpreters",
        **{
            f"jax.modules.{path}": f"dovetail_jax_names.modules.answers:{path.replace('.', '_')}"
            for path in _ANSWERS
        },
        **{
            f"jax.modules._src.{p}": f"dovetail_jax_names.private.answers:{p.replace('.', '_')}"
            for p in _PRIVATE_ANSWERS
        },
    },
)
