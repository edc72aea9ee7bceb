"""A residual that is put elsewhere is divided as it was."""

from __future__ import annotations

from dovetail_sharding.types import infer_rules, same

from ..primitive import place_p

infer_rules.set(place_p, same)
