"""``jax._src.core``. flax (``linen.fp8_ops``): ``ShapedArray``, ``physical_aval``; numpyro:
``trace_state_clean``; dynamiqs: ``concrete_or_error``; quax, which has traces and tracers of its
own: the classes of these, what makes one current, and ``full_lower``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.errors import ShardingTypeError as ShardingTypeError
from dovetail_base.source import here
from dovetail_core import (
    EVAL,
    AbstractValue as AbstractValue,
    ConcretizationTypeError,
    ShapedArray as ShapedArray,
    Tracer as Tracer,
    get_trace,
    set_trace,
)

from ..absent_names import public
from ..extending.primitive import Primitive as Primitive
from ..extending.programs import jaxpr_as_fun as jaxpr_as_fun
from ..extending.traces import (
    Trace as Trace,
    TraceTag as TraceTag,
    set_current_trace as set_current_trace,
    take_current_trace as take_current_trace,
)


class TracingContext:
    """The trace that is current."""

    @property
    def trace(self) -> Any:
        return get_trace()

    def set_trace(self, trace: Any) -> None:
        """Make another one current."""
        set_trace(EVAL if trace is None else trace)

    def is_top_level(self) -> bool:
        """True if nothing is being traced."""
        return get_trace() is EVAL


trace_ctx = TracingContext()


def full_lower(val: Any) -> Any:
    """The simpler value that a tracer represents (its ``full_lower``), or ``val`` itself."""
    lower = getattr(type(val), "full_lower", None) if isinstance(val, Tracer) else None
    return val if lower is None else lower(val)


def trace_state_clean() -> bool:
    """True if nothing is being traced."""
    return get_trace() is EVAL


def physical_aval(aval: ShapedArray) -> ShapedArray:
    """The type of the array of numbers that an array of an extended dtype is made of; where it is
    made of several, of these stacked along a last axis."""
    low = getattr(aval.dtype, "low", None)
    if not low:
        return aval
    return ShapedArray(aval.shape if len(low) == 1 else (*aval.shape, len(low)), low[0])


def concrete_or_error(force: Callable[[Any], Any] | None, val: Any, context: str = "") -> Any:
    """``force(val)``, or ``val``, of a value that is known while tracing.

    Raises:
        ConcretizationTypeError: it is not; says ``context``.
    """
    result = val.concrete() if isinstance(val, Tracer) else val
    if isinstance(val, Tracer) and result is None:
        sentence = f"a value must be known while tracing{here()}, but {val!r} is not. {context}"
        raise ConcretizationTypeError(sentence.rstrip())
    return result if force is None else force(result)


def __getattr__(name: str) -> Any:
    return public("jax._src.core", name)
