"""``x[index]``: slices and single integers by (dynamic) slices, integer arrays by a gather."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.errors import integer_too_large
from dovetail_core import EVAL, Cache, ConcretizationTypeError, Tracer, enable_x64, get_trace, here
from dovetail_xla.config import tracing_state

from ..fusion import fused
from ..operations import number, select
from ..promotion import INT32, default_int
from .layout import Layout, Pick, Run, layout, make_plan
from .parsing import INT, IndexTypeError, Key, parse
from .windows import Windowed, read

Mode = lax.GatherScatterMode
IN_BOUNDS = Mode.PROMISE_IN_BOUNDS


class Options:
    """Options of indexing, such as the mode for indices out of bounds; equal ones are identical."""

    __slots__ = ("mode", "fill_value", "sorted", "unique", "wrap")
    _instances: dict[tuple[Any, ...], Options] = {}

    mode: Mode
    fill_value: Any
    sorted: bool
    unique: bool
    wrap: bool

    def __new__(
        cls, mode: Any = None, fill_value: Any = None, sorted: bool = False, unique: bool = False,
        wrap: bool = True,
    ) -> Options:  # fmt: skip
        result = IN_BOUNDS if mode is None else Mode.from_any(mode)
        fill = None if fill_value is None else _static_number(fill_value)
        key = (result, fill.__class__, repr(fill), bool(sorted), bool(unique), bool(wrap))
        options = cls._instances.get(key)
        if options is None:
            options = cls._instances[key] = object.__new__(cls)
            options.mode, options.fill_value = result, fill
            options.sorted, options.unique, options.wrap = key[3:]
        return options


def _static_number(fill_value: Any) -> Any:
    if isinstance(fill_value, Tracer) and fill_value.concrete() is None:
        raise ConcretizationTypeError(
            f"fill_value must be concrete, got a traced value of type {fill_value.aval.str_short()}"
            f"{here()}. Give a number, or choose with dovetail.numpy.where."
        )
    return np.asarray(fill_value).item()


DEFAULT = Options()


class ReadPlan:
    """The function that reads one index from arrays of one shape, given array and operands.

    Attributes:
        host: the positions of operands that are Python integers, with the sizes of their axes.
        dynamic: the plan with the starts of slices as operands, which evaluation uses.
        starts: those starts.
    """

    __slots__ = ("layout", "options", "host", "simple", "dynamic", "starts")

    def __init__(self, result: Layout, options: Options) -> None:
        self.layout = result
        self.options = options
        self.host = [(p.source, result.shape[p.axis]) for p in result.picks if p.kind == INT]
        self.simple = not result.advanced and options.mode in (IN_BOUNDS, Mode.CLIP)
        self.dynamic: ReadPlan = self
        self.starts: tuple[int, ...] = ()

    def normalize(self, operands: list[Any]) -> None:
        """Count negative Python integers from the end, and keep them within index types."""
        for i, size in self.host:
            v = operands[i]  # type: ignore[call-overload]
            if v < 0 and self.options.wrap:
                v += size
            if not 0 <= v < size:
                check_index(v)
                v = -1 if v < 0 else size
            operands[i] = v  # type: ignore[call-overload]

    def __call__(self, x: Any, *operands: Any) -> Any:
        result = self.layout
        for axis in result.flag_axes:
            x = lax.expand_dims(x, (axis,))
        if self.simple or not result.picks:
            return _read_simple(x, result, operands, self.options)
        return _read_gather(x, result, operands, self.options)


def check_index(v: int) -> None:
    """Refuse a Python integer that no index type holds; others that are out of bounds are clamped.

    Raises:
        OverflowError: ``v`` is too large.
    """
    if not -(1 << 63) <= v < 1 << 63 or (not enable_x64.value and not -(1 << 31) <= v < 1 << 31):
        raise integer_too_large(v, default_int())


def _plan_for(shape: tuple[int, ...], key: Key, options: Options) -> ReadPlan:
    return make_plan(ReadPlan, _dynamic_plans, layout(shape, key), options)


_dynamic_plans: Cache[Any, ReadPlan] = Cache()
_plans: Cache[Any, ReadPlan] = Cache()


@fused(static=("plan",))
def _run(x: Any, *operands: Any, plan: ReadPlan) -> Any:
    return plan(x, *operands)


def getitem(x: Any, index: Any, options: Options = DEFAULT) -> Any:
    """``x[index]`` for an array or tracer.

    Raises:
        IndexError, TypeError: see ``parsing.parse`` and ``layout.layout``.
    """
    try:
        key, operands = parse(index)
    except Windowed:
        return read(lambda part, rest: getitem(part, rest, options), x, index)
    shape = x.shape
    plan = _plans.get((shape, key, options))
    if plan is None:
        plan = _plans[shape, key, options] = _plan_for(shape, key, options)
    if plan.host:
        plan.normalize(operands)
    if get_trace() is EVAL:
        return _run(x, *plan.starts, *operands, plan=plan.dynamic)
    return plan(x, *operands)


def _read_simple(x: Any, result: Layout, operands: Any, options: Options) -> Any:
    dynamic = bool(result.picks) or any(r.source is not None for r in result.runs)
    static = _static_indices(result, operands) if dynamic and tracing_state.value else None
    if dynamic and static is None:
        x = _dynamic_slice(x, result, result.picks, operands, options)
    x = _slice_runs(x, result, static or {}, contiguous=not dynamic or static is not None)
    return _finish(x, tuple([p.axis for p in result.picks]), result)


def _static_indices(result: Layout, operands: Any) -> dict[int, int] | None:
    """The indices of picked axes if all are Python integers within bounds, else None.

    In a traced program they are parameters, so that the derivative is no dynamic update. Eager
    calls are compiled with indices as operands: one program for all indices.
    """
    if any(r.source is not None for r in result.runs):
        return None
    indices: dict[int, int] = {}
    for pick in result.picks:
        index: Any = operands[pick.source] if pick.source.__class__ is int else None
        if index.__class__ is not int or not 0 <= index < result.shape[pick.axis]:
            return None
        indices[pick.axis] = index
    return indices


def start_of(run: Run, operands: Any) -> Any:
    """The start of a slice."""
    return run.start if run.source is None else operands[run.source]


def _dynamic_slice(
    x: Any, result: Layout, picks: tuple[Pick, ...], operands: Any, options: Options
) -> Any:
    """One element of each picked axis, and contiguous runs of others, by one dynamic slice."""
    starts: list[Any] = [0] * len(result.shape)
    sizes = list(result.shape)
    for run in result.runs:
        if run.step == 1:
            starts[run.axis], sizes[run.axis] = start_of(run, operands), run.count
    for pick in picks:
        start = wrapped_pick(pick, operands, result.shape, options.wrap)
        starts[pick.axis], sizes[pick.axis] = clipped(start, result.shape[pick.axis], options), 1
    # An axis of size 0 has no element to read: an index cannot be clamped.
    if any(s > n for s, n in zip(sizes, result.shape)):
        raise IndexError(
            f"an index picks from an axis of size 0 of an array of shape {result.shape}{here()}"
        )
    return lax.dynamic_slice_p.bind(x, *one_dtype(starts), slice_sizes=tuple(sizes))


def one_dtype(starts: list[Any]) -> list[Any]:
    """Start indices, arrays and Python integers, converted to one dtype."""
    arrays = [s for s in starts if hasattr(s, "aval")]
    if not arrays:
        return starts
    dtype = arrays[0].aval.dtype
    if any(a.aval.dtype != dtype for a in arrays):
        dtype = INT32
    if dtype == INT32 and all(a.aval.dtype == dtype for a in arrays):
        return [s if hasattr(s, "aval") else np.int32(s) for s in starts]
    return [lax.convert_element_type(s, dtype) if hasattr(s, "aval") else dtype.type(s)
            for s in starts]  # fmt: skip


def clipped(start: Any, size: int, options: Options) -> Any:
    """The start of a slice of one element, clamped to an axis of ``size`` in the mode ``clip``.

    A dynamic slice would clamp it as well, but checks report that as an error.
    """
    if options.mode is not Mode.CLIP or not size:
        return start
    if not hasattr(start, "aval"):
        return min(max(start, 0), size - 1)
    return lax.clamp(number(start, 0), start, number(start, size - 1))


def index_dtype(dtype: Any) -> Any:
    """The element type that indices of type ``dtype`` are computed in: at least 32 bits wide."""
    return dtype if dtype.itemsize >= 4 else INT32


def wrapped_pick(pick: Pick, operands: Any, shape: tuple[int, ...], wrap: bool) -> Any:
    """The indices of a pick, negative ones counted from the end."""
    if pick.source.__class__ is not int:
        return pick.source
    v = operands[pick.source]
    if pick.kind == INT:
        return v
    if not hasattr(v, "aval"):
        return np.where(v < 0, v + shape[pick.axis], v) if wrap else v
    return wrapped(v, shape[pick.axis], wrap)


def wrapped(v: Any, size: int, wrap: bool = True) -> Any:
    """Integer indices, negative ones counted from the end of an axis of ``size``."""
    dtype = v.aval.dtype
    if dtype.itemsize < 4:
        v, dtype = lax.convert_element_type(v, INT32), INT32 if dtype.kind == "i" else dtype
    if not wrap or dtype.kind == "u":
        return v
    return select(lax.lt_p.bind(v, number(v, 0)), lax.add_p.bind(v, number(v, size)), v)


def _slice_runs(x: Any, result: Layout, static: Mapping[int, int], contiguous: bool) -> Any:
    """``x`` with its axes sliced, and others at the ``static`` indices.

    Contiguous slices are left out if a dynamic slice has taken them already.
    """
    starts, limits = [0] * len(x.shape), list(x.shape)
    strides = [1] * len(x.shape)
    backwards = []
    for axis, index in static.items():
        starts[axis], limits[axis] = index, index + 1
    for run in result.runs:
        if run.step == 1 and not contiguous:
            continue
        last = run.start + (run.count - 1) * run.step
        low, high = (run.start, last) if run.step > 0 else (last, run.start)
        if not run.count:
            low, high = 0, -1
        starts[run.axis], limits[run.axis], strides[run.axis] = low, high + 1, abs(run.step)
        if run.step < 0:
            backwards.append(run.axis)
    if any(starts) or tuple(limits) != x.shape or any(s != 1 for s in strides):
        steps = tuple(strides) if any(s != 1 for s in strides) else None
        x = lax.slice_p.bind(
            x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=steps
        )
    return lax.rev_p.bind(x, dimensions=tuple(backwards)) if backwards else x


def _finish(x: Any, removed: tuple[int, ...], results: Layout) -> Any:
    """``x`` without the picked axes, and with the new ones."""
    if removed and results.new_axes:
        return lax.reshape_p.bind(x, new_sizes=results.result)
    if removed:
        return lax.squeeze_p.bind(x, dimensions=removed)
    return _with_new_axes(x, results)


def _with_new_axes(x: Any, results: Layout) -> Any:
    if not results.new_axes:
        return x
    dims = tuple([i for i in range(len(results.result)) if i not in results.new_axes])
    return lax.broadcast_in_dim_p.bind(x, shape=results.result, broadcast_dimensions=dims)


def _read_gather(x: Any, result: Layout, operands: Any, options: Options) -> Any:
    dynamic = any(r.source is not None for r in result.runs)
    if dynamic:
        x = _dynamic_slice(x, result, (), operands, options)
    x = _slice_runs(x, result, {}, contiguous=not dynamic)
    columns = [wrapped_pick(p, operands, result.shape, options.wrap) for p in result.picks]
    indices = index_vectors(columns, result.pick_shape)
    picked = tuple([p.axis for p in result.picks])
    n = len(result.pick_shape)
    runs = len(result.runs)
    offsets = (*range(result.before), *range(result.before + n, runs + n))
    out = gathered(x, indices, lax.GatherDimensionNumbers(offsets, picked, picked), options)
    return _with_new_axes(out, result)


def gathered(x: Any, vectors: Any, numbers: lax.GatherDimensionNumbers, options: Options) -> Any:
    """A gather of one index on the axes of ``start_index_map`` and on batching axes, and of all
    elements of other axes.

    Raises:
        IndexTypeError: elements are to be read from an axis of size 0.
    """
    picked, batched = numbers.start_index_map, numbers.operand_batching_dims
    sizes = [1 if i in picked or (d and i in batched) else d for i, d in enumerate(x.shape)]
    empty = [i for i in picked if not x.shape[i]]
    if empty:
        if 0 not in (*vectors.shape[:-1], *sizes):
            raise IndexTypeError(
                f"an index picks from an axis of size 0: axis {empty[0]} of an array of shape "
                f"{x.shape}{here()}"
            )
        # Nothing is read, so axes of one element are equivalent.
        x = lax.full([1 if i in empty else d for i, d in enumerate(x.shape)], 0, x.dtype)
    return lax.gather(
        x, vectors, numbers, sizes,
        unique_indices=options.unique, indices_are_sorted=options.sorted, mode=options.mode,
        fill_value=options.fill_value,
    )  # fmt: skip


def index_vectors(columns: list[Any], pick_shape: tuple[int, ...]) -> Any:
    """Index vectors of shape ``(*pick_shape, len(columns))`` from arrays that broadcast to it."""
    dtypes = {index_dtype(c.dtype) for c in columns if hasattr(c, "dtype")}
    dtype = dtypes.pop() if len(dtypes) == 1 else INT32
    if all(not hasattr(c, "aval") for c in columns):
        values = [np.broadcast_to(np.asarray(c, dtype), pick_shape) for c in columns]
        return np.stack(values, axis=-1)
    shape = (*pick_shape, 1)
    parts = []
    for c in columns:
        c = c if hasattr(c, "dtype") and c.dtype == dtype else _as_index(c, dtype)
        first = len(pick_shape) - len(c.shape)
        dims = tuple(range(first, len(pick_shape)))
        parts.append(lax.broadcast_in_dim_p.bind(c, shape=shape, broadcast_dimensions=dims))
    return lax.concatenate_p.bind(*parts, dimension=len(pick_shape)) if len(parts) > 1 else parts[0]


def _as_index(c: Any, dtype: Any) -> Any:
    return lax.convert_element_type(c, dtype) if hasattr(c, "aval") else np.asarray(c, dtype)
