"""Evaluation in tests by the NumPy reference backend, which does not compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dovetail_base.environment import flag
from dovetail_core import (
    EVAL,
    MissingRule,
    Primitive,
    ShapedArray,
    Tracer,
    eval_rules,
    float0,
    registry,
    typeof,
)

from .reference import REFERENCE
from .tables import reference_rules
from .transfer import asarray_on


@contextmanager
def evaluated_by_reference(wanted: bool | None = None) -> Iterator[None]:
    """A context in which operations are evaluated by NumPy, like programs of ``reference``.

    Tests of transformations spend most of their time compiling: each operation once for each shape.
    Here operations are compiled only by ``jit``, or if they have an effect, an evaluation rule of
    their own or operands that are not arrays, or if the reference backend has no rule for them.

    All are compiled if a plugin of another distribution has passes, which run before compiling.

    Args:
        wanted: False changes nothing. None: wanted unless all is tested (DOVETAIL_TEST_FULL=1).
    """
    if (flag("test_full") if wanted is None else not wanted) or _has_passes():
        yield
        return
    own, miss = EVAL.rules, EVAL.miss
    rules: dict[Primitive, Callable[..., Any]] = {}

    def rule_of(primitive: Primitive) -> Callable[..., Any]:
        rule = rules[primitive] = _rule(primitive, own.get(primitive) or miss(primitive))
        return rule

    EVAL.rules, EVAL.miss = rules, rule_of
    try:
        yield
    finally:
        EVAL.rules, EVAL.miss = own, miss


def _has_passes() -> bool:
    """True if plugins of other distributions have passes."""
    result = registry()
    return any(m.passes and not result.plugins[name].is_standard for name, m in result.ranked())


def _rule(primitive: Primitive, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    if primitive.abstract_eval is None or eval_rules.declares(primitive):
        return otherwise  # the primitive has an evaluation rule
    try:
        reference = reference_rules[primitive]
    except MissingRule:
        return otherwise

    def rule(*args: Any, **params: Any) -> Any:
        avals: list[Any] = [typeof(x) for x in args]
        if not all(type(a) is ShapedArray for a in avals) or any(
            isinstance(x, Tracer) for x in args
        ):
            return otherwise(*args, **params)
        inferred = primitive.infer(tuple(avals), params)
        if inferred.effects or inferred.is_high:
            return otherwise(*args, **params)
        operands = [np.asarray(x, a.dtype) for x, a in zip(args, avals)]
        try:
            with np.errstate(all="ignore"):
                results = reference(*operands, **params)
        except MissingRule:  # of an operation in a program that it holds
            return otherwise(*args, **params)
        outs = list(results) if primitive.multiple_results else [results]
        made = [_array(x, a) for x, a in zip(outs, inferred.avals, strict=True)]
        return made if primitive.multiple_results else made[0]

    return rule


def _array(x: Any, aval: Any) -> Any:
    device = REFERENCE.local_devices()[0]
    return x if aval.dtype == float0 else asarray_on(x, aval, device)
