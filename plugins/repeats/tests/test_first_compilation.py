"""A program with repeated parts is traced once, though their rules come while it is lowered."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import dovetail
import dovetail.numpy as dnp
from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_core import generation

print(dnp.arange(3) + 1)
reference_rules.fill()
before = generation.value
from dovetail_repeats.primitive import repeated_p

stablehlo_rules.fill(repeated_p)
assert repeated_p in reference_rules.rules and repeated_p in stablehlo_rules.rules
assert generation.value == before, "programs that were compiled before would be traced again"
"""


def test_rules_that_come_with_another_tables_do_not_make_programs_old() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
