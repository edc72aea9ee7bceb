"""Conformance of third parties' plugins: high types, a backend, what the coverage says of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dovetail_core import registry
from dovetail_testing import Case, Conformance, Skip, all_samples

from . import backends
from .high import polar


@pytest.mark.usefixtures("third_party")
def test_a_backend_that_cannot_be_used_is_skipped_with_its_reason(monkeypatch):
    problem = staticmethod(lambda: "the device is asleep")
    monkeypatch.setattr(backends.ThirdParty, "problem", problem)
    (inventory,) = Conformance("conformance").cases(full=False)
    assert [tuple(e) for e in inventory.entries] == [
        ("*", "backend thirdparty", "skipped", "the device is asleep")
    ]


@pytest.mark.usefixtures("third_party")
def test_a_backend_gets_all_samples_and_differs_by_nothing():
    law = registry().provider("backend_law")("thirdparty")
    spoken_of = [s for _, s in all_samples() if law.speaks_of(s)]
    assert len(spoken_of) > 1000
    for sample in spoken_of[::100]:
        law(sample)


def test_laws_of_high_values_speak_of_them():
    tables = {
        e.table for c in Conformance("", samples=tuple(polar())).cases(True) for e in c.entries
    }
    assert {"types", "to_lo", "eval", "batching.batch", "backends.stablehlo"} <= tables
    for case in Conformance("", samples=tuple(polar())).cases(full=False):
        with np.errstate(all="ignore"):
            if case.entries[:1] and case.entries[0].table in ("types", "to_lo", "eval"):
                case.run()


@pytest.mark.usefixtures("third_party")
def test_a_backend_that_lacks_element_types_fails_no_sample(monkeypatch):
    monkeypatch.setattr(backends.ThirdParty, "lacks", {"complex64", "complex128"}, raising=False)
    cases = [c for c in Conformance("conformance").cases(full=False) if isinstance(c, Case)]
    counted = Counter()
    for case in cases[::9]:
        try:
            case.run()
            counted["tested"] += 1
        except Skip as e:
            counted[str(e).partition(":")[0]] += 1
    assert counted["tested"] > 50 and counted["unsupported"] > 5
    assert set(counted) == {"tested", "unsupported"}


def test_what_is_derived_from_samples_of_the_experimental_plugin_can_be_lowered():
    tables = ("eval", "backends.stablehlo")
    cases = [c for c in Conformance("experimental").cases(full=False) if isinstance(c, Case)]
    mine = [c for c in cases if c.table in tables and c.sample.primitive.regions is None]
    assert len(mine) > 20 and any(c.kind for c in mine)
    for case in mine:
        case.run()
