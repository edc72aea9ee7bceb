"""Shardings in types: how values are divided along axes of type ``Explicit``.

What modules with rules of the table ``sharding.infer`` import.
"""

from ..specs import axes_of as axes_of
from .inferring import (
    each as each,
    elementwise as elementwise,
    nowhere as nowhere,
    same as same,
    undivided_along as undivided_along,
)
from .table import (
    Application as Application,
    InferRule as InferRule,
    Parts as Parts,
    ask_for_out_sharding as ask_for_out_sharding,
    infer_rules as infer_rules,
    without as without,
)
