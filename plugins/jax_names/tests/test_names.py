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


MISSING = """
from importlib import import_module
from dovetail_jax_names.names import known
for module in sorted(known()):
    if module.startswith(("jax.lax", "jax.extend", "jax.interpreters", "jax.core", "jax.custom_d")):
        for name in sorted(known()[module]):
            try:
                getattr(import_module(module), name)
            except (ImportError, AttributeError) as e:
                assert "Dovetail does not have it: " in str(e), e
                print(module, name)
"""


def test_what_is_missing_among_names_for_extensions_has_a_reason(python) -> None:
    done = python("-W", "ignore", "-c", "import dovetail.jax\n" + MISSING)
    assert done.returncode == 0, done.stderr
    assert "jax.lax psend" in done.stdout and len(done.stdout.splitlines()) < 45, done.stdout


LISTED = """
from jax.extend.core import primitives
from jax.extend.mlir import dialects, ir, passmanager
from jax.extend.mlir.dialects import stablehlo

listed = [n for n in dir(primitives) if n.endswith("_p")]
assert len(listed) > 150 and {"add_p", "jit_p", "random_bits_p", "add_jaxvals_p"} <= set(listed)
assert all(getattr(primitives, n).name for n in listed)
assert ir.Context and passmanager.PassManager and stablehlo.AddOp and dialects
"""


def test_primitives_are_listed_and_mlir_is_imported_from_its_package(python) -> None:
    done = python("-c", LISTED, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr
