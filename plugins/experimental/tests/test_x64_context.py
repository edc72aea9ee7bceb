"""64-bit types within a statement."""

from __future__ import annotations

import numpy as np

import dovetail_numpy as dnp
from dovetail_experimental.x64_context import disable_x64, enable_x64


def test_types_are_wide_inside_only():
    with enable_x64():
        assert dnp.ones(1).dtype == np.float64
        with disable_x64():
            assert dnp.ones(1).dtype == np.float32
        with enable_x64(False):
            assert dnp.ones(1).dtype == np.float32
        assert dnp.ones(1).dtype == np.float64
    assert dnp.ones(1).dtype == np.float32
