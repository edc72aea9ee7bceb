"""What an update of an index means: which axes are scattered over, which are windows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_core import Cache

from .layout import Layout, Pick, Run, layout, movable
from .parsing import INT, Key, parse
from .reading import Options, check_index, index_vectors, start_of, wrapped_pick


class _Part(NamedTuple):
    """An axis that index vectors have a component for, and its places."""

    axis: int
    source: Any
    dims: tuple[int, ...]


class WritePlan:
    """How to update one index of arrays of one shape (see ``ReadPlan``)."""

    __slots__ = (
        "layout", "options", "host", "static", "parts", "batch", "windows", "box", "moving",
        "starts",
    )  # fmt: skip

    def __init__(self, result: Layout, options: Options) -> None:
        self.layout = result
        self.options = options
        self.moving: WritePlan = self
        self.starts: tuple[int, ...] = ()
        self.host = [(p.source, result.shape[p.axis]) for p in result.picks if p.kind == INT]
        self.static = all(p.kind == INT for p in result.picks)
        self.box = self.static and all(r.step == 1 for r in result.runs)
        self._arrange(result)

    def _arrange(self, result: Layout) -> None:
        """Which axes of the result are places of index vectors, and which are windows."""
        parts: list[Any] = []
        batch: list[int] = []
        windows: list[int] = []
        at = 0
        n = len(result.places)
        picked = False

        def picks() -> None:
            dims = tuple(range(len(batch), len(batch) + n))
            parts.extend(_Part(p.axis, p, dims) for p in result.picks)
            batch.extend(result.places)

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
                places = np.arange(run.start, stop, run.step, dtype=np.int32)
                parts.append(_Part(run.axis, places, (len(batch),)))
                batch.append(run.count)
            at += 1
        if not picked:
            picks()
        self.parts, self.batch, self.windows = tuple(parts), tuple(batch), tuple(windows)

    def place(self, operands: list[Any]) -> bool:
        """Count negative Python integers from the end; whether all are inside of the array."""
        inside = True
        for i, size in self.host:
            v = operands[i]  # type: ignore[call-overload]
            if v < 0 and self.options.wrap:
                v += size
            if not 0 <= v < size:
                check_index(v)
                v, inside = (-1 if v < 0 else size), False
            operands[i] = v  # type: ignore[call-overload]
        return inside

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
        """How index vectors, windows and the array's axes belong together."""
        scattered = {p.axis for p in self.layout.picks}
        scattered |= {r.axis for r in self.layout.runs if r.step != 1}
        axes = tuple([p.axis for p in self.parts])
        return lax.ScatterDimensionNumbers(self.windows, tuple(sorted(scattered)), axes)

    def update_shape(self) -> tuple[int, ...]:
        """The shape of what is read or written: the result's without new axes."""
        new = self.layout.new_axes
        return tuple([d for i, d in enumerate(self.layout.result) if i not in new])


def _spread(source: Any, dims: tuple[int, ...], ndim: int) -> Any:
    """An array of places with its dimensions at ``dims`` of ``ndim``, others of size 1."""
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
_moving: Cache[Any, WritePlan] = Cache()


def _plan_for(shape: tuple[int, ...], key: Key, options: Options) -> WritePlan:
    plan = WritePlan(layout(shape, key), options)
    moved = movable(plan.layout)
    if moved is not None:
        core, plan.starts = moved
        plan.moving = _moving.get((core, options)) or WritePlan(core, options)
        _moving[core, options] = plan.moving
    return plan


def plan_for(x: Any, index: Any, options: Options) -> tuple[WritePlan, list[Any], bool]:
    """The plan of an index, its operands, and whether its integers are inside of the array."""
    key, operands = parse(index)
    shape = x.shape
    plan = _plans.get((shape, key, options))
    if plan is None:
        plan = _plans[shape, key, options] = _plan_for(shape, key, options)
    return plan, operands, plan.place(operands) if plan.host else True
