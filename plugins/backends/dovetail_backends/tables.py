"""The tables of the backends: lowering to StableHLO, and evaluation with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dovetail_core import RuleTable


class StablehloRule(Protocol):
    """Lowers one operation to StableHLO.

    ``rule(b, *operands, **params)`` emits operations through the builder ``b`` and returns the
    result's ``Val`` (a list of them where the primitive has multiple results). Operands are
    ``Val``: ``x.name``, ``x.aval``, ``x.type``. ``b.outs`` are the result types of the operation.
    """

    def __call__(self, b: Any, *operands: Any, **params: Any) -> Any: ...


class ReferenceRule(Protocol):
    """Computes one operation with NumPy: ``rule(*arrays, **params)``, a list if multiple results.

    Arrays are ``numpy.ndarray`` of exactly the operands' types; results must have exactly the
    result types' shapes and dtypes.
    """

    def __call__(self, *arrays: Any, **params: Any) -> Any: ...


stablehlo_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "backends.stablehlo", signature=StablehloRule, law="lower"
)
reference_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "backends.reference", signature=ReferenceRule, law="reference"
)
