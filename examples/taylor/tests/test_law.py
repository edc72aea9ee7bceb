"""The third-party law: this plugin's table on all primitives."""

from __future__ import annotations

from dovetail_core.testing import matrix

test_series_of_every_primitive = matrix(tables="taylor", quick=1)
