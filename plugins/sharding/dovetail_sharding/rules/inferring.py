"""Rules of ``sharding.infer`` for this plugin's primitives and for placement."""

from __future__ import annotations

from dovetail_backends import sharding_constraint_p

from ..constraints import shard_alike_p
from ..inspecting import inspect_sharding_p
from ..manual.primitives import one_of_parts_p
from ..types.inference import each, infer_rules, nowhere, same

infer_rules.set(sharding_constraint_p, same)
infer_rules.set(one_of_parts_p, same)
infer_rules.set(shard_alike_p, each)
infer_rules.set(inspect_sharding_p, nowhere)
