"""The third-party law: this plugin's table on all primitives."""

from __future__ import annotations

from dovetail_core.testing import matrix

test_jets_of_every_primitive = matrix(tables="laplacian", quick=1)
