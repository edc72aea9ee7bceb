"""Functional updates ``x.at[index].set(y)`` and the like: by an update of one box, or a scatter.

A plan, which is worked out once for an index and a shape, says which axes are scattered over by
index vectors and which are windows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_core import EVAL, Cache, canonical_dtype, get_trace, here, typeof
from dovetail_lax import dtypes

from ..creation.arrays import as_array, asarray
from ..fusion import fused
from ..operations import strong
from ..promotion import broadcast, convert
from .layout import Layout, Pick, Run, layout, make_plan
from .parsing import INT, Key, parse
from .reading import Options, check_index, clipped, index_vectors, one_dtype, start_of, wrapped_pick
from .windows import Windowed, write


class _Part(NamedTuple):
    """An axis that index vectors have a component for, and its indices."""

    axis: int
    source: Any
    dims: tuple[int, ...]


class WritePlan:
    """The update of one index of arrays of one shape (see ``ReadPlan``)."""

    __slots__ = (
        "layout", "options", "host", "static", "parts", "batch", "windows", "box", "dynamic",
        "starts",
    )  # fmt: skip

    def __init__(self, result: Layout, options: Options) -> None:
        self.layout = result
        self.options = options
        self.dynamic: WritePlan = self
        self.starts: tuple[int, ...] = ()
        self.host = [(p.source, result.shape[p.axis]) for p in result.picks if p.kind == INT]
        self.static = all(p.kind == INT for p in result.picks)
        self.box = self.static and all(r.step == 1 for r in result.runs)
        self._arrange(result)

    def _arrange(self, result: Layout) -> None:
        """Divide the axes of the result into those of index vectors and windows."""
        parts: list[Any] = []
        batch: list[int] = []
        windows: list[int] = []
        at = 0
        n = len(result.pick_shape)
        picked = False

        def picks() -> None:
            dims = tuple(range(len(batch), len(batch) + n))
            parts.extend(_Part(p.axis, p, dims) for p in result.picks)
            batch.extend(result.pick_shape)

        for i, run in enumerate(result.runs):
            if i == result.before and not picked:
                picks()
                picked, at = True, at + n
            if run.step == 1:
                windows.append(at)
                if run.source is not None or run.start or run.count != result.shape[run.axis]:
                    parts.append(_Part(run.axis, run, ()))
            else:
                stop = run.start + run.count * run.step
                positions = np.arange(run.start, stop, run.step, dtype=np.int32)
                parts.append(_Part(run.axis, positions, (len(batch),)))
                batch.append(run.count)
            at += 1
        if not picked:
            picks()
        self.parts, self.batch, self.windows = tuple(parts), tuple(batch), tuple(windows)

    def normalize(self, operands: list[Any]) -> bool:
        """Count negative Python integers from the end; True if all are within bounds."""
        in_bounds = True
        for i, size in self.host:
            v = operands[i]  # type: ignore[call-overload]
            if v < 0 and self.options.wrap:
                v += size
            if not 0 <= v < size:
                check_index(v)
                v, in_bounds = (-1 if v < 0 else size), False
            operands[i] = v  # type: ignore[call-overload]
        return in_bounds

    def indices(self, operands: Any) -> Any:
        """The index vectors."""
        shape = self.layout.shape
        columns = []
        for part in self.parts:
            source = part.source
            if source.__class__ is Pick:
                source = wrapped_pick(source, operands, shape, self.options.wrap)
            elif source.__class__ is Run:
                source = start_of(source, operands)
            columns.append(_spread(source, part.dims, len(self.batch)))
        if not columns:
            return np.zeros((*self.batch, 0), np.int32)
        return index_vectors(columns, self.batch)

    def dimension_numbers(self) -> Any:
        """The dimension numbers of the scatter: index vectors, windows and the array's axes."""
        scattered = {p.axis for p in self.layout.picks}
        scattered |= {r.axis for r in self.layout.runs if r.step != 1}
        axes = tuple([p.axis for p in self.parts])
        return lax.ScatterDimensionNumbers(self.windows, tuple(sorted(scattered)), axes)

    def update_shape(self) -> tuple[int, ...]:
        """The shape of the elements read or written: that of the result without new axes."""
        new = self.layout.new_axes
        return tuple([d for i, d in enumerate(self.layout.result) if i not in new])


def _spread(source: Any, dims: tuple[int, ...], ndim: int) -> Any:
    """An array of indices with its dimensions at ``dims`` of ``ndim``, others of size 1."""
    shape = getattr(source, "shape", ())
    if not shape or not ndim:
        return source
    dims = dims[len(dims) - len(shape) :]
    full = [1] * ndim
    for d, n in zip(dims, shape):
        full[d] = n
    if tuple(full) == shape:
        return source
    if isinstance(source, np.ndarray):
        return source.reshape(full)
    return lax.broadcast_in_dim_p.bind(source, shape=tuple(full), broadcast_dimensions=dims)


_plans: Cache[Any, WritePlan] = Cache()
_dynamic_plans: Cache[Any, WritePlan] = Cache()


def _plan_for(shape: tuple[int, ...], key: Key, options: Options) -> WritePlan:
    return make_plan(WritePlan, _dynamic_plans, layout(shape, key), options)


def plan_for(x: Any, index: Any, options: Options) -> tuple[WritePlan, list[Any], bool]:
    """The plan of an index, its operands, and whether its integers are within bounds."""
    key, operands = parse(index)
    shape = x.shape
    plan = _plans.get((shape, key, options))
    if plan is None:
        plan = _plans[shape, key, options] = _plan_for(shape, key, options)
    return plan, operands, plan.normalize(operands) if plan.host else True


Mode = lax.GatherScatterMode
DROP = Mode.FILL_OR_DROP
SCATTERS: dict[str, Callable[..., Any]] = {
    "set": lax.scatter, "add": lax.scatter_add, "subtract": lax.scatter_sub,
    "multiply": lax.scatter_mul, "min": lax.scatter_min, "max": lax.scatter_max,
}  # fmt: skip


def update(x: Any, index: Any, kind: str, y: Any, options: Options) -> Any:
    """``x`` with ``y`` written (``kind`` ``"set"``), added, ... at ``index``.

    Raises:
        IndexError, TypeError: of the index; or ``y`` does not broadcast to its shape.
    """
    out = _updated(x, index, kind, y, options)
    if not x.aval.weak_type or out.aval.weak_type:
        return out
    return lax.convert_element_type_p.bind(out, new_dtype=out.dtype, weak_type=True)


def _updated(x: Any, index: Any, kind: str, y: Any, options: Options) -> Any:
    try:
        plan, operands, in_bounds = plan_for(x, index, options)
    except Windowed:
        part = lambda part, rest: update(part, rest, kind, y, options)  # noqa: E731
        return write(part, x, index, options.mode is DROP)
    own = x.dtype
    y = _converted(x, y, kind)
    if getattr(y, "dtype", own) != own:  # computed in the common type, as x[...] += y would be
        wide = update(lax.convert_element_type(x, y.dtype), index, kind, y, options)
        return lax.convert_element_type(wide, own)
    fits = kind == "set" and plan.box and options.mode in (DROP, Mode.CLIP, Mode.PROMISE_IN_BOUNDS)
    as_box = fits and (in_bounds or options.mode is not DROP)
    if get_trace() is EVAL:
        return _run(x, y, *plan.starts, *operands, plan=plan.dynamic, kind=kind, box=as_box)
    return _write(x, y, operands, plan, kind, as_box)


@fused(static=("plan", "kind", "box"))
def _run(x: Any, y: Any, *operands: Any, plan: WritePlan, kind: str, box: bool) -> Any:
    return _write(x, y, operands, plan, kind, box)


def _converted(x: Any, y: Any, kind: str) -> Any:
    """``y`` in the type of ``x``, or in their common one; a warning if that loses something."""
    if y.__class__ is float and x.dtype.kind == "f":
        return convert(y, x.dtype)
    if y.__class__ not in (bool, int, float, complex):
        if y is None:
            raise ValueError(f"at[...].{kind}: None is no value to write{here()}")
        y = asarray(y) if y.__class__ in (list, tuple) else as_array(f"at[...].{kind}", y)
    dtype = x.dtype
    own: Any = typeof(y)
    if own.dtype == dtype:
        return y
    is_wide = canonical_dtype(dtype) != dtype  # from where 64-bit types are enabled
    both: tuple[Any, ...] = (typeof(x), own)
    types = [(a.dtype, a.weak_type) for a in both]
    common = dtype if is_wide else dtypes.common_type(types, False)[0]
    if common != dtype:
        warnings.warn(
            f"at[...].{kind}: a value of dtype {own.dtype} is written to an array of dtype "
            f"{dtype}, which cannot hold all of its values. Convert it with astype; "
            "this will be an error.",
            FutureWarning,
            stacklevel=4,
        )
    wanted = dtype if kind == "set" else common
    if hasattr(y, "aval") or y.__class__ is complex:
        y = as_array("at", y)
        return convert(y, wanted) if is_wide else lax.convert_element_type(y, wanted)
    return convert(y, wanted) if is_wide else lax.full((), y, wanted)


def _write(x: Any, y: Any, operands: Any, plan: WritePlan, kind: str, box: bool) -> Any:
    result = plan.layout
    y = _update_values(y, plan, x)
    shape = x.shape
    for axis in result.flag_axes:
        x = lax.expand_dims(x, (axis,))
    if box:
        return _write_box(x, y, operands, result, plan.options)
    sure = plan.static
    out = SCATTERS[kind](
        x,
        plan.indices(operands),
        y,
        plan.dimension_numbers(),
        indices_are_sorted=plan.options.sorted or (sure and not plan.batch),
        unique_indices=plan.options.unique or sure,
        mode=plan.options.mode,
    )
    return lax.reshape(out, shape) if result.flag_axes else out


def _update_values(y: Any, plan: WritePlan, x: Any) -> Any:
    """``y`` broadcast to the shape that the index has, without its new axes."""
    results = plan.layout
    wanted = plan.update_shape()
    shape = getattr(y, "shape", ())
    if shape == ():
        y = convert(y, x.dtype) if not hasattr(y, "aval") else y
        return (
            lax.broadcast_in_dim_p.bind(y, shape=wanted, broadcast_dimensions=()) if wanted else y
        )
    fits = len(shape) <= len(results.result)
    if not fits or any(a not in (1, b) for a, b in zip(shape[::-1], results.result[::-1])):
        raise ValueError(
            f"an update of shape {getattr(y, 'shape', ())} does not broadcast to {results.result}, "
            f"the shape that the index has in an array of shape {results.shape}{here()}"
        )
    y = lax.reshape(y, shape)
    if results.new_axes:
        y = lax.reshape(y, (1,) * (len(results.result) - len(shape)) + shape)
        y = lax.squeeze(y, results.new_axes)
    return broadcast(y, wanted)


def _write_box(x: Any, y: Any, operands: Any, result: Layout, options: Options) -> Any:
    starts: list[Any] = [0] * len(result.shape)
    sizes = list(result.shape)
    for run in result.runs:
        starts[run.axis], sizes[run.axis] = start_of(run, operands), run.count
    for pick in result.picks:
        start = operands[pick.source]
        starts[pick.axis], sizes[pick.axis] = clipped(start, result.shape[pick.axis], options), 1
    y = lax.reshape(y, tuple(sizes)) if getattr(y, "shape", ()) != tuple(sizes) else y
    if tuple(sizes) == x.shape:
        return strong(as_array("at", y))
    return lax.dynamic_update_slice_p.bind(x, y, *one_dtype(starts))


def apply(x: Any, index: Any, func: Callable[[Any], Any], options: Options) -> Any:
    """``x`` with ``func`` applied to its elements at ``index``."""
    try:
        plan, operands, _ = plan_for(x, index, options)
    except Windowed:
        part = lambda part, rest: apply(part, rest, func, options)  # noqa: E731
        return write(part, x, index, options.mode is DROP)
    shape = x.shape
    for axis in plan.layout.flag_axes:
        x = lax.expand_dims(x, (axis,))
    out = lax.scatter_apply(
        x,
        as_array("at[...].apply", plan.indices(operands)),
        func,
        plan.dimension_numbers(),
        update_shape=plan.update_shape(),
        indices_are_sorted=options.sorted or (plan.static and not plan.batch),
        unique_indices=options.unique or plan.static,
        mode=options.mode,
    )
    return lax.reshape(out, shape) if plan.layout.flag_axes else out
