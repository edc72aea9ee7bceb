"""Manifest of the plugin ``lax``: the primitives on arrays and their rules.

Modules of rules wait for the first use of a primitive that they are for (``Manifest.families``).
"""

from dovetail_core import Manifest

_PRIMITIVES = """
    arithmetic collectives composite condensed contractions control_flow discrete factorizations fft
    gather numerical polar ragged ragged_collectives reductions rng shape slopes sorting special
    spectral taken transcendental values windows
"""
"""Modules that define primitives, in ``dovetail_lax.primitives``."""
_RULES: dict[str, dict[str, str]] = {
    "ad.jvp": {
        "jvp.arithmetic": "arithmetic discrete", "jvp.collectives": "",
        "jvp.condensed": "condensed factorizations", "jvp.contractions": "contractions fft",
        "jvp.factorizations": "factorizations polar", "jvp.gather": "", "jvp.reductions": "",
        "jvp.shape": "", "jvp.sorting": "", "jvp.special": "numerical slopes special",
        "jvp.spectral": "", "jvp.transcendental": "", "jvp.values": "rng taken values",
        "jvp.windows": "",
    },
    "ad.partial_eval": {"partial_eval": "taken"},
    "ad.transpose": {
        "transpose.arithmetic": "arithmetic discrete reductions taken values",
        "transpose.collectives": "collectives ragged_collectives",
        "transpose.contractions": "contractions fft", "transpose.gather": "",
        "transpose.linalg": "condensed factorizations spectral", "transpose.shape": "",
        "transpose.windows": "",
    },
    "batching.batch": {
        "batch.collectives": "", "batch.contractions": "contractions fft",
        "batch.elementwise": "arithmetic discrete transcendental values",
        "batch.gather": "gather shape", "batch.linalg": "condensed factorizations polar spectral",
        "batch.reductions": "", "batch.rng": "", "batch.shape": "", "batch.sorting": "",
        "batch.special": "numerical slopes special", "batch.taken": "", "batch.windows": "",
    },
    "backends.stablehlo": {
        "stablehlo.arithmetic": "", "stablehlo.collectives": "collectives ragged_collectives",
        "stablehlo.composite": "", "stablehlo.contractions": "contractions fft",
        "stablehlo.control_flow": "", "stablehlo.discrete": "",
        "stablehlo.factorizations": "condensed factorizations", "stablehlo.gather": "",
        "stablehlo.products": "arithmetic", "stablehlo.reductions": "", "stablehlo.shape": "",
        "stablehlo.sorting": "",
        "stablehlo.spectral": "", "stablehlo.transcendental": "special transcendental",
        "stablehlo.values": "rng values", "stablehlo.windows": "",
    },
    "backends.reference": {
        "reference.arithmetic": "", "reference.collectives": "",
        "reference.contractions": "contractions fft", "reference.control_flow": "",
        "reference.discrete": "", "reference.gather": "",
        "reference.linalg": "condensed factorizations spectral", "reference.reductions": "",
        "reference.rng": "", "reference.shape": "", "reference.sorting": "",
        "reference.transcendental": "numerical special transcendental", "reference.values": "",
        "reference.windows": "",
    },
    "dce": {"dce": "sorting taken"},
}  # fmt: skip
"""For each table its modules in ``dovetail_lax.rules``, and for each of these the modules of the
primitives that it has rules for: if none is named, the module of the same name."""


def _rules(name: str) -> str:
    return f"dovetail_lax.rules.{name}"


def _primitives(names: str) -> tuple[str, ...]:
    return tuple(f"dovetail_lax.primitives.{name}" for name in names.split())


MANIFEST = Manifest(
    "lax",
    requires=("batching",),
    names={
        "allow_f16_reductions": "dovetail_lax.monoids:allow_f16_reductions",
        "default_matmul_precision": "dovetail_lax.functions.precision:default_matmul_precision",
        "numpy_dtype_promotion": "dovetail_lax.dtypes:numpy_dtype_promotion",
    },
    surfaces={
        "dtypes": "dovetail_lax.dtypes",
        "lax": "dovetail_lax",
        "lax.linalg": "dovetail_lax.linalg",
    },
    options={
        "allow_f16_reductions": "dovetail_lax.monoids:allow_f16_reductions",
        "default_matmul_precision": "dovetail_lax.functions.precision:default_matmul_precision",
        "explicit_x64_dtypes": "dovetail_lax.element_types:explicit_x64_dtypes",
        "numpy_dtype_promotion": "dovetail_lax.promotion:numpy_dtype_promotion",
    },
    primitives=_primitives(_PRIMITIVES),
    contributes={
        **{table: tuple(map(_rules, modules)) for table, modules in _RULES.items()},
        "checkify.checks": (_rules("checks"),),
        "remat.cost": (_rules("cost"),),
        "sharding.infer": (_rules("sharding"),),
        "to_lo": (_rules("to_lo"),),
    },
    providers={"algebra": "dovetail_lax.algebra:ALGEBRA"},
    samples=("dovetail_lax.samples",),
    families={
        _rules(name): _primitives(homes or name.rpartition(".")[2])
        for modules in _RULES.values()
        for name, homes in modules.items()
    },
)
