"""Manifest of the plugin ``jax_names``: programs that say ``import jax`` run as they are."""

from dovetail_core.registry.manifest import Manifest

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
        "jax.modules.api_util": "dovetail_jax_names.modules.api_util",
        "jax.modules.core": "dovetail_jax_names.modules.core",
        "jax.modules.custom_derivatives": "dovetail_jax_names.modules.custom_derivatives",
        "jax.modules.errors": "dovetail_jax_names.modules.errors",
        "jax.modules.experimental": "dovetail_jax_names.modules.experimental",
        "jax.modules.extend": "dovetail_jax_names.modules.extend",
        "jax.modules.extend.mlir.dialects": "jaxlib.mlir.dialects",
        "jax.modules.extend.mlir.ir": "jaxlib.mlir.ir",
        "jax.modules.extend.mlir.passmanager": "jaxlib.mlir.passmanager",
        "jax.modules.interpreters": "dovetail_jax_names.modules.interpreters",
        "jax.modules.lib": "dovetail_jax_names.modules.lib",
        "jax.modules.version": "dovetail_jax_names.modules.version",
    },
)
