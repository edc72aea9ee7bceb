"""The modules of primitives, and which of them those of rules are for, which wait for their use.

A module of rules whose primitives are in the module of the same name stands under its name alone.
"""

_HOMES = """
    arithmetic branches collectives composite condensed contractions control_flow discrete
    factorizations fft gather incomplete joining platforms polar ragged ragged_collectives
    reductions rng rotations shape slopes sorting special spectral transcendental tridiagonal
    updates values while_loop windows zeta
"""
PRIMITIVES = tuple(f"dovetail_lax.primitives.{home}" for home in _HOMES.split())
"""The modules that define primitives, by their import strings."""
FAMILIES: dict[str, dict[str, str]] = {
    "jvp": {
        "arithmetic": "", "branches": "", "collectives": "",
        "condensed": "condensed factorizations tridiagonal", "contractions": "contractions fft",
        "discrete": "", "factorizations": "", "gather": "", "polar": "", "reductions": "",
        "shape": "joining shape", "slopes": "", "sorting": "", "special": "incomplete special zeta",
        "spectral": "rotations spectral", "transcendental": "", "updates": "",
        "values": "rng values", "windows": "",
    },
    "transpose": {
        "arithmetic": "arithmetic discrete values", "branches": "",
        "collectives": "collectives ragged_collectives",
        "contractions": "contractions factorizations fft", "gather": "", "joining": "",
        "linalg": "condensed rotations tridiagonal", "reductions": "", "shape": "", "values": "",
        "windows": "",
    },
    "batch": {
        "branches": "", "collectives": "", "contractions": "contractions fft",
        "elementwise": "arithmetic discrete transcendental values", "gather": "", "joining": "",
        "linalg": "condensed factorizations polar rotations spectral tridiagonal updates",
        "reductions": "", "rng": "", "shape": "", "slicing": "shape", "sorting": "",
        "special": "incomplete slopes special zeta", "windows": "",
    },
    "stablehlo": {
        "arithmetic": "", "collectives": "collectives ragged_collectives", "composite": "",
        "condensed": "condensed tridiagonal", "contractions": "contractions fft",
        "control_flow": "control_flow platforms while_loop", "discrete": "",
        "exponentials": "transcendental", "factorizations": "", "gather": "", "joining": "",
        "products": "arithmetic", "reductions": "", "shape": "", "sorting": "", "spectral": "",
        "transcendental": "special transcendental", "values": "rng values",
        "cumulative": "reductions", "windows": "",
    },
    "reference": {
        "arithmetic": "", "collectives": "", "contractions": "contractions fft",
        "control_flow": "control_flow platforms while_loop", "discrete": "", "gather": "",
        "joining": "", "linalg": "condensed factorizations spectral tridiagonal updates",
        "reductions": "", "rng": "", "shape": "", "sorting": "",
        "transcendental": "incomplete special transcendental", "values": "", "windows": "",
    },
    "cost": {
        "contractions": "contractions fft", "gather": "",
        "linalg": "condensed factorizations spectral tridiagonal updates", "reductions": "",
        "shape": "shape values", "sorting": "",
    },
    "dce": {"branches": "", "sorting": ""},
    "partial_eval": {"branches": ""},
}  # fmt: skip


def modules(table: str) -> tuple[str, ...]:
    """The modules of rules of a table, by their import strings."""
    return tuple(_rules(table, name) for name in FAMILIES[table])


def families() -> dict[str, tuple[str, ...]]:
    """For each of them, the modules of its primitives."""
    return {
        _rules(table, name): tuple(f"dovetail_lax.primitives.{p}" for p in (homes or name).split())
        for table, parts in FAMILIES.items()
        for name, homes in parts.items()
    }


def _rules(table: str, name: str) -> str:
    return f"dovetail_lax.rules.{table}.{name}"
