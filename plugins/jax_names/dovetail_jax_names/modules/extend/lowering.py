"""``jax.extend.lowering``: what a lowering rule gets, and where it runs."""

from __future__ import annotations

from typing import Any

from dovetail_xla import mlir_functions as _bindings

from ...lowering.contexts import LoweringRuleContext as LoweringRuleContext


def __getattr__(name: str) -> Any:
    if name == "JaxIrContext":
        return _bindings.ir().Context
    if name == "upstream_dialects":
        return _bindings.dialects()
    raise AttributeError(f"module 'jax.extend.lowering' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["JaxIrContext", "LoweringRuleContext", "upstream_dialects"]
