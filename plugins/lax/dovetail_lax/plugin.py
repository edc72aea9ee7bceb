"""Manifest of the plugin ``lax``: the primitives on arrays and their rules."""

from dovetail_core import Manifest

from . import families

MANIFEST = Manifest(
    "lax",
    requires=("batching",),
    names={
        "allow_f16_reductions": "dovetail_lax.halves:allow_f16_reductions",
        "default_matmul_precision": "dovetail_lax.functions.precision:default_matmul_precision",
        "numpy_dtype_promotion": "dovetail_lax.dtypes:numpy_dtype_promotion",
    },
    surfaces={
        "dtypes": "dovetail_lax.dtypes",
        "lax": "dovetail_lax",
        "lax.linalg": "dovetail_lax.linalg",
    },
    options={
        "allow_f16_reductions": "dovetail_lax.halves:allow_f16_reductions",
        "default_matmul_precision": "dovetail_lax.functions.precision:default_matmul_precision",
        "explicit_x64_dtypes": "dovetail_lax.narrowing:explicit_x64_dtypes",
        "numpy_dtype_promotion": "dovetail_lax.promotion:numpy_dtype_promotion",
    },
    primitives=families.PRIMITIVES,
    contributes={
        "ad.jvp": families.modules("jvp"),
        "ad.partial_eval": families.modules("partial_eval"),
        "ad.transpose": families.modules("transpose"),
        "batching.batch": families.modules("batch"),
        "backends.stablehlo": families.modules("stablehlo"),
        "backends.reference": families.modules("reference"),
        "checkify.checks": ("dovetail_lax.rules.checks",),
        "dce": families.modules("dce"),
        "remat.cost": families.modules("cost"),
        "sharding.infer": ("dovetail_lax.rules.sharding",),
        "to_lo": ("dovetail_lax.rules.lowering",),
    },
    providers={"algebra": "dovetail_lax.algebra:ALGEBRA"},
    samples=("dovetail_lax.samples",),
    families=families.families(),
)
