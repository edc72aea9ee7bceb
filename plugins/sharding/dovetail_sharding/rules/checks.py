"""Rules of ``checkify.checks``: at the boundary of ``shard_map`` nothing becomes nan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_checkify import Report, check_rules

from ..constraints import shard_alike_p
from ..manual.primitives import from_parts_p, one_of_parts_p, to_parts_p


def _nothing(report: Report, args: Sequence[Any], outs: Sequence[Any], /, **params: Any) -> None:
    pass


for _primitive in (shard_alike_p, to_parts_p, from_parts_p, one_of_parts_p):
    check_rules.set(_primitive, _nothing)
