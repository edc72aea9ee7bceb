"""Manifest of the plugin ``jax_names``: programs that say ``import jax`` run as they are."""

from dovetail_core import Manifest

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
        "lax.after_all_p": "dovetail_jax_names.extending.unheld:after_all_p",
        "lax.create_token_p": "dovetail_jax_names.extending.unheld:create_token_p",
        "lax.linear_solve_p": "dovetail_custom_rules.linear_solve_lifting:linear_solve_p",
        "lax.select_and_scatter_p": "dovetail_jax_names.extending.unheld:select_and_scatter_p",
    },
    surfaces={"jax": "dovetail_jax_names"},
    commands={
        "check": "dovetail_jax_names.commands.check",
        "run": "dovetail_jax_names.commands.run",
    },
    options={"as_jax": "dovetail_jax_names.options:as_jax"},
    providers={
        "absence": "dovetail_jax_names.absence:reason",
        "pickles": "dovetail_jax_names.pickles:reduced",
    },
    members={
        "jax.modules._src": "dovetail_jax_names.private",
        # asdex: dce_jaxpr; what JAX's public module has, the private one has.
        "jax.modules._src.interpreters.partial_eval": (
            "dovetail_jax_names.modules.interpreters.partial_eval"
        ),
        "jax.modules.api_util": "dovetail_jax_names.modules.api_util",
        "jax.modules.cloud_tpu_init": "dovetail_jax_names.modules.cloud_tpu_init",
        "jax.modules.core": "dovetail_jax_names.modules.core",
        "jax.modules.custom_derivatives": "dovetail_jax_names.modules.custom_derivatives",
        "jax.modules.errors": "dovetail_jax_names.modules.errors",
        "jax.modules.experimental": "dovetail_jax_names.modules.experimental",
        "jax.modules.experimental.sparse.ad": "dovetail_jax_names.modules.sparse.ad",
        "jax.modules.experimental.sparse.api": "dovetail_jax_names.modules.sparse.api",
        "jax.modules.experimental.sparse.bcoo": "dovetail_jax_names.modules.sparse.bcoo",
        "jax.modules.experimental.sparse.bcsr": "dovetail_jax_names.modules.sparse.bcsr",
        "jax.modules.experimental.sparse.coo": "dovetail_jax_names.modules.sparse.coo",
        "jax.modules.experimental.sparse.csr": "dovetail_jax_names.modules.sparse.csr",
        "jax.modules.experimental.sparse.random": "dovetail_jax_names.modules.sparse.random",
        "jax.modules.experimental.sparse.transform": "dovetail_jax_names.modules.sparse.transform",
        "jax.modules.experimental.sparse.util": "dovetail_jax_names.modules.sparse.util",
        "jax.modules.export": "dovetail_jax_names.modules.export",
        "jax.modules.extend": "dovetail_jax_names.modules.extend",
        "jax.modules.extend.mlir.dialects": "jaxlib.mlir.dialects",
        "jax.modules.extend.mlir.ir": "jaxlib.mlir.ir",
        "jax.modules.extend.mlir.passmanager": "jaxlib.mlir.passmanager",
        "jax.modules.ffi": "dovetail_jax_names.modules.ffi",
        "jax.modules.interpreters": "dovetail_jax_names.modules.interpreters",
        "jax.modules.lib": "dovetail_jax_names.modules.lib",
        "jax.modules.version": "dovetail_jax_names.modules.version",
    },
)
