"""Conformance of third parties' plugins: high types, a backend, what the coverage says of them."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import registry
from dovetail_core.testing import Conformance, all_samples

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
