"""Resizing promotes no ranks, so that it works where that is forbidden."""

from __future__ import annotations

import pytest

import dovetail_numpy as dnp
from dovetail_nn.image import resize
from dovetail_numpy.promotion import numpy_rank_promotion


@pytest.mark.parametrize("method", ["linear", "cubic", "lanczos3"])
def test_no_ranks_are_promoted_inside(method: str) -> None:
    with numpy_rank_promotion("raise"):
        assert resize(dnp.ones((2, 2)), (4, 5), method).shape == (4, 5)
