"""The kit finds forty seeded mistakes, and finds nothing where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_backends.testing import evaluated_by_reference
from dovetail_testing import Skip

from .faults import FAULTS, Fault

NOT_FOUND: dict[str, str] = {}
"""Mistakes that the kit does not find, and why it cannot."""

pytestmark = pytest.mark.usefixtures("third_party")


def first_failure(tried: list[Any]) -> str:
    """The first of the cases that fails, or an empty string."""
    for case in tried:
        try:
            with np.errstate(all="ignore"):
                case.run()
        except Skip:
            pass
        except Exception as e:
            return f"{case.id}: {type(e).__name__}: {e}"
    return ""


def cases(fault: Fault, faulty: bool) -> list[Any]:
    """A fault's cases, those of its own table first; of a backend those of a few operations."""
    full = fault.subject != "backend"  # which is tried on everything
    result = [c for c in fault.made(faulty).cases(full) if c.entries]
    if fault.subject == "backend":
        return [c for c in result if c.entries[0].primitive in ("cond", "sub")]
    if fault.subject == "bounds":
        return [c for c in result if c.entries[0].table == fault.where]
    return sorted(result, key=lambda c: c.entries[0].table != fault.where)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.where}: {f.name}")
def test_a_mistake_is_found(fault: Fault) -> None:
    result = first_failure(cases(fault, True))
    assert bool(result) == (fault.name not in NOT_FOUND), result


def test_forty_mistakes_are_made() -> None:
    assert len({f.name for f in FAULTS}) == len(FAULTS) == 40 and len(NOT_FOUND) <= 2


@pytest.mark.parametrize("fault", {f.subject: f for f in FAULTS}.values(), ids=lambda f: f.subject)
def test_without_the_mistake_nothing_is_found(fault: Fault) -> None:
    with evaluated_by_reference(False if fault.subject == "backend" else None):
        assert not first_failure(cases(fault, False))
