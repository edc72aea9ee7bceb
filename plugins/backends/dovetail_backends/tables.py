"""The tables of the backends: lowering to StableHLO, and evaluation with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dovetail_core import RuleTable

FAMILIES = {"gpu": ("cuda", "rocm")}
"""Names of several platforms each."""


class StablehloRule(Protocol):
    """Lowers one operation to StableHLO.

    ``rule(b, *operands, **params)`` emits operations through the builder ``b`` and returns the
    result's ``Val`` (a list of them where the primitive has multiple results). Operands are
    ``Val``: ``x.name``, ``x.aval``, ``x.type``. ``b.outs`` are the result types of the operation.

    A rule that is registered for a platform (``platform="cuda"``) is for that alone, and goes
    before the general one there.
    """

    def __call__(self, b: Any, *operands: Any, **params: Any) -> Any: ...


class ReferenceRule(Protocol):
    """Computes one operation with NumPy: ``rule(*arrays, **params)``, a list if multiple results.

    Arrays are ``numpy.ndarray`` of exactly the operands' types; results must have exactly the
    result types' shapes and dtypes.
    """

    def __call__(self, *arrays: Any, **params: Any) -> Any: ...


Steps = Callable[..., int]


class Effort:
    """The cost of a rule of ``backends.reference`` that is more than one NumPy operation's.

    A decorator of rules, which have it as their attribute ``effort``.

    Attributes:
        steps: ``steps(in_avals, out_avals)`` returns the number of small operations that the rule
            counts as, such as the steps of a loop in Python; None: one.
        module: a module that the rule imports at its first run and that takes long to import.
    """

    def __init__(self, steps: Steps | None = None, module: str = "") -> None:
        self.steps, self.module = steps, module

    def __call__(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.effort = self  # type: ignore[attr-defined]
        return rule


def _platform_of(b: Any, *operands: Any) -> str:
    return b.platform


stablehlo_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "backends.stablehlo",
    signature=StablehloRule,
    law="lower",
    platform_of=_platform_of,
    families=FAMILIES,
)
reference_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "backends.reference", signature=ReferenceRule, law="reference"
)
