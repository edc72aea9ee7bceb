"""Inputs of the primitive for the laws of all rule tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample
from dovetail_tree.util import tree_structure

from .errors import Check, FailedCheckError
from .primitive import check_p


def samples() -> Iterator[Sample]:
    """Checks that hold, and one that is left out of compiled code and fails."""
    x = np.array([0.5, -1.5, 2.0], np.float32)
    summary = Check(FailedCheckError, "{}", tree_structure(((0,), {})), (0,), None)
    for failed in (False, True):
        params = {"checks": (summary,), "debug": True}
        operands = np.array(failed), np.int32(1), x
        yield Sample(check_p, operands, params, tags={"effect"}, name=f"failed={failed}")
