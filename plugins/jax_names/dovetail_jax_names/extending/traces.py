"""Traces as authors see them: which one is current, and traces of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import BatchTrace
from dovetail_core import (
    EVAL,
    AbstractValue,
    ConcretizationTypeError,
    Primitive,
    StagingTrace,
    Trace as KernelTrace,
    Tracer,
    axis_env,
    canonical_dtype,
    float0,
    get_trace,
    here,
    is_inexact,
    is_value,
    set_trace,
    typeof,
    with_leading,
    without_leading,
)
from dovetail_custom_rules import custom_jvp_call_p, custom_vjp_call_p
from dovetail_surface.parameters import with_parameters

from .classes import Covering

_CALLS = (custom_jvp_call_p, custom_vjp_call_p)


class Trace(KernelTrace, metaclass=Covering):
    """Base of traces that authors write. Every trace of Dovetail is an instance.

    They define ``process_primitive(primitive, tracers, params)``, and perhaps ``process_call``,
    ``process_custom_jvp_call(primitive, fun, jvp, tracers, **params)`` and
    ``process_custom_vjp_call(primitive, fun, fwd, bwd, tracers, **params)``.
    """

    _covers = KernelTrace

    def __init__(self) -> None:
        super().__init__(get_trace())

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Apply a primitive, in JAX's form: a call of a function with a derivative rule by the
        method for that, where the trace has it."""
        if primitive in _CALLS and hasattr(self, f"process_{primitive.name}"):
            bound = primitive.get_bind_params(params)
            given = (*bound.pop("subfuns"), args)
            return getattr(self, f"process_{primitive.name}")(primitive, *given, **bound)
        return self.process_primitive(primitive, args, with_parameters(primitive, params))

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Apply a primitive to values of this trace, and others."""
        raise NotImplementedError(f"{type(self).__name__} defines no process_primitive")

    def stage_value(self, val: Any) -> Any:
        """A value from outside as one of this trace."""
        return val

    def full_raise(self, x: Any) -> Any:
        """``x`` itself: values of other traces are operands of this one as they are."""
        return x

    def is_valid(self) -> bool:
        """True if its transformation is going on."""
        return not self.ended

    def invalidate(self) -> None:
        """End its transformation."""
        self.ended = True


class TraceTag:
    """A tag that the traces of one transformation share; compared by identity."""


class set_current_trace:  # lower case: used as a function
    """Context manager under which ``trace`` handles operations."""

    def __init__(self, trace: KernelTrace | None, check_leaks: bool = False) -> None:
        self.trace = trace
        self.check_leaks = check_leaks

    def __enter__(self) -> None:
        self.prev = get_trace()
        set_trace(EVAL if self.trace is None else self.trace)

    def __exit__(self, *error: object) -> None:
        set_trace(self.prev)


class take_current_trace:  # lower case: used as a function
    """Context manager that gives the current trace; within it operations are evaluated."""

    def __enter__(self) -> KernelTrace:
        self.prev = get_trace()
        set_trace(EVAL)
        return self.prev

    def __exit__(self, *error: object) -> None:
        set_trace(self.prev)


class OpaqueTraceState:
    """A value that is equal to another one that was taken while the same trace was current."""

    __slots__ = ("_trace",)

    def __init__(self, trace: KernelTrace) -> None:
        self._trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace is other._trace

    def __hash__(self) -> int:
        return hash(self._trace)

    def __repr__(self) -> str:
        return f"<state of {self._trace.what}>"


def get_opaque_trace_state(convention: str | None = None) -> OpaqueTraceState:
    """The state of tracing now."""
    return OpaqueTraceState(get_trace())


def find_top_trace(_: Any) -> KernelTrace:
    """The current trace."""
    return get_trace()


def _traces() -> list[KernelTrace]:
    """The current trace and those around it."""
    result: list[KernelTrace] = []
    trace: KernelTrace | None = get_trace()
    while trace is not None and trace is not EVAL:
        result.append(trace)
        trace = trace.parent
    return result


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """True if a program is being recorded."""
    return any(isinstance(t, StagingTrace) for t in _traces())


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """True if a function is being mapped."""
    return any(isinstance(t, BatchTrace) for t in _traces())


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
    """The names of axes in scope."""
    return [name for name, _ in axis_env()]


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """True if any named axis is in scope."""
    return bool(axis_env())


def valid_jaxtype(x: Any) -> bool:
    """True if ``x`` is an array, or a number that can be one."""
    return is_value(x)


def concrete_or_error(force: Any, val: Any, context: str = "") -> Any:
    """``force(val)`` of a value that is known (``val`` where ``force`` is None).

    Raises:
        ConcretizationTypeError: it is traced; ``context`` is part of the message.
    """
    result = val.concrete() if isinstance(val, Tracer) else val
    if isinstance(val, Tracer) and result is None:
        raise ConcretizationTypeError(
            f"{val!r} is needed as a value that is known while tracing{here()}. {context}".rstrip()
        )
    return result if force is None else force(result)


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> Any:
    """The element type of tangents of arrays of an element type."""
    return primal_dtype if is_inexact(canonical_dtype(primal_dtype)) else float0


def mapped_aval(size: int, axis: int | None, aval: Any) -> AbstractValue:
    """The type of one slice along ``axis``; of a value without the axis where that is None."""
    if axis is None:
        return aval
    if axis == 0:
        return without_leading(aval)
    return aval.update(shape=aval.shape[:axis] + aval.shape[axis + 1 :])


def unmapped_aval(
    size: int, axis: int | None, aval: Any, explicit_mesh_axis: Any = None
) -> AbstractValue:
    """The type of ``size`` values together, with a new axis at ``axis`` unless that is None."""
    if axis is None:
        return aval
    if axis == 0:
        return with_leading(aval, size)
    return aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def get_aval(x: Any) -> AbstractValue:
    """The type of a value."""
    return typeof(x)
