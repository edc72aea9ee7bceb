"""Shardings in types, along axes of type ``Explicit``: names for rules of ``sharding.infer``."""

from ..specs import axes_of as axes_of
from .inference import (
    Application as Application,
    InferRule as InferRule,
    Parts as Parts,
    ask_for_out_sharding as ask_for_out_sharding,
    each as each,
    elementwise as elementwise,
    infer_rules as infer_rules,
    nowhere as nowhere,
    same as same,
    undivided_along as undivided_along,
    without as without,
)
