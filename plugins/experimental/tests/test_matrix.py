"""The laws of the tables of costs hold of every primitive that is installed."""

from __future__ import annotations

from dovetail_testing import matrix

test_costs_of_every_primitive = matrix(tables="experimental.cost", quick=1)
test_rooflines_of_every_primitive = matrix(tables="experimental.roofline", quick=1)
