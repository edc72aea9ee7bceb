"""The law of the table holds of every primitive that is installed."""

from __future__ import annotations

from dovetail_testing import matrix

test_rounding_of_every_primitive = matrix(tables="stochastic", quick=1)
