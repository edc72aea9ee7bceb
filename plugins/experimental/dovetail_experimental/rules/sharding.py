"""Layouts and metadata leave a value divided as it is."""

from __future__ import annotations

from dovetail_sharding.types import infer_rules, same

from ..primitives import layout_constraint_p, xla_metadata_value_p

infer_rules.set(layout_constraint_p, same)
infer_rules.set(xla_metadata_value_p, same)
