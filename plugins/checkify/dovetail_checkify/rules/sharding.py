"""The sharding rule of ``check``, which has no results."""

from __future__ import annotations

from dovetail_sharding.types import infer_rules, nowhere

from ..primitive import check_p

infer_rules.set(check_p, nowhere)
