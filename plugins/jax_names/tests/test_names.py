"""The list of JAX's public names is that of the coverage."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from dovetail_jax_names.names import known

NAMES = Path(__file__).parents[3] / "tests/compat/jax_public_api.csv"


def test_the_names_are_those_that_coverage_counts() -> None:
    wanted: dict[str, set[str]] = defaultdict(set)
    with NAMES.open() as file:
        for row in csv.DictReader(file):
            if not row["module"].startswith("jax.Array"):  # attributes of a class
                wanted[row["module"]].add(row["name"])
    assert known() == wanted
