"""Which modules of primitives the modules of rules are for, which are imported when one is used.

A module of rules whose primitives are in the module of the same name stands under its name alone.
"""

FAMILIES: dict[str, dict[str, str]] = {
    "jvp": {
        "arithmetic": "", "collectives": "", "condensed": "condensed factorizations tridiagonal",
        "contractions": "contractions fft", "discrete": "", "factorizations": "", "gather": "",
        "polar": "", "reductions": "", "shape": "joining shape", "sorting": "",
        "special": "incomplete special", "spectral": "", "transcendental": "", "updates": "",
        "values": "rng values", "windows": "",
    },
    "transpose": {
        "arithmetic": "arithmetic discrete values",
        "collectives": "collectives ragged_collectives",
        "contractions": "contractions factorizations fft", "gather": "", "joining": "",
        "linalg": "condensed tridiagonal", "reductions": "", "shape": "", "values": "",
        "windows": "",
    },
    "batch": {
        "collectives": "", "contractions": "contractions fft",
        "elementwise": "arithmetic discrete incomplete special transcendental values",
        "gather": "", "joining": "",
        "linalg": "condensed factorizations polar spectral tridiagonal updates",
        "reductions": "", "rng": "", "shape": "", "slicing": "shape", "sorting": "", "windows": "",
    },
    "stablehlo": {
        "arithmetic": "", "collectives": "collectives ragged_collectives", "composite": "",
        "condensed": "condensed tridiagonal", "contractions": "contractions fft",
        "control_flow": "control_flow platforms while_loop", "discrete": "", "factorizations": "",
        "gather": "", "joining": "", "reductions": "", "shape": "", "sorting": "", "spectral": "",
        "transcendental": "special transcendental", "values": "rng values",
        "windows": "reductions windows",
    },
    "reference": {
        "arithmetic": "", "collectives": "", "contractions": "contractions fft",
        "control_flow": "control_flow platforms while_loop", "discrete": "", "gather": "",
        "joining": "", "linalg": "condensed factorizations spectral tridiagonal updates",
        "reductions": "", "rng": "", "shape": "", "sorting": "",
        "transcendental": "incomplete special transcendental", "values": "", "windows": "",
    },
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
