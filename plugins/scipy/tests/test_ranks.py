"""Functions that promote no ranks of their users work where that is forbidden."""

from __future__ import annotations

import dovetail_numpy as dnp
from dovetail_numpy.promotion import numpy_rank_promotion
from dovetail_scipy.signal import detrend, welch
from dovetail_scipy.sparse.linalg import gmres

M = dnp.array([[2.0, 1.0], [1.0, 3.0]])


def test_no_ranks_are_promoted_inside() -> None:
    with numpy_rank_promotion("raise"):
        assert detrend(M).shape == (2, 2)
        assert welch(dnp.ones(64), nperseg=16)[1].shape == (9,)
        assert gmres(lambda x: M @ x, dnp.ones(2))[0].shape == (2,)
