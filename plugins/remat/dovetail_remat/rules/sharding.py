"""The sharding of a value that is moved to another memory: unchanged."""

from __future__ import annotations

from dovetail_sharding.types import infer_rules, same

from ..primitive import place_p

infer_rules.set(place_p, same)
