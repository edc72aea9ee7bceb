"""Applying a primitive to values by compiling it."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, registry


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Compute an operation on concrete values as a compiled program, by the backend's rule."""
    return registry().provider("evaluator")(prim)(*args, **params)
