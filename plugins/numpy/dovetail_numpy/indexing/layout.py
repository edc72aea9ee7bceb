"""The layout of an index for a shape: slices and picks of axes, and the axes of the result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail_core import here

from .parsing import ARRAY, DOTS, FLAG, HOST, INT, NONE, SLICE, Key


class IndexShapeError(IndexError, ValueError):
    """Index arrays that do not broadcast together: an IndexError as in NumPy, and a ValueError."""


class Run(NamedTuple):
    """A slice of an axis: ``count`` elements from ``start`` on (or from operand ``source``)."""

    axis: int
    start: int
    count: int
    step: int
    source: int | None = None


class Pick(NamedTuple):
    """An axis indexed by integers: operand number ``source``, or a constant NumPy array."""

    axis: int
    source: int | np.ndarray[Any, Any]
    shape: tuple[int, ...]
    kind: int
    dtype: Any = None


class Layout(NamedTuple):
    """An index, worked out for one shape.

    Attributes:
        shape: the array's, with an axis of size 1 for each boolean scalar.
        flag_axes: the positions of those axes.
        runs: the sliced axes, in order; whole axes among them.
        picks: axes indexed by integers, in order.
        advanced: whether some pick has dimensions, so that all picks broadcast together.
        pick_shape: the common shape of the picks.
        before: the number of runs before the picks' dimensions in the result.
        new_axes: the positions of the axes that None adds in the result.
        result: the shape of the result.
    """

    shape: tuple[int, ...]
    flag_axes: tuple[int, ...]
    runs: tuple[Run, ...]
    picks: tuple[Pick, ...]
    advanced: bool
    pick_shape: tuple[int, ...]
    before: int
    new_axes: tuple[int, ...]
    result: tuple[int, ...]


def with_dynamic_starts(result: Layout) -> tuple[Layout, tuple[int, ...]] | None:
    """The layout with the starts of contiguous slices as leading operands, and those starts.

    Slices of one size that start at different indices then share one program. None if there is no
    such slice.
    """
    starts = [r for r in result.runs if r.step == 1 and r.count != result.shape[r.axis] and r.count]
    if not starts or result.flag_axes:
        return None
    number = {r.axis: i for i, r in enumerate(starts)}
    runs = tuple([r._replace(start=0, source=number[r.axis]) if r.axis in number else r
                  for r in result.runs])  # fmt: skip
    picks = tuple([p._replace(source=p.source + len(starts)) for p in result.picks])  # type: ignore
    return result._replace(runs=runs, picks=picks), tuple([r.start for r in starts])


def make_plan(make: Any, known: Any, result: Layout, options: Any) -> Any:
    """The plan ``make(result, options)`` with ``starts`` and ``dynamic``, the plan of the layout
    with dynamic starts, which ``known`` holds for all layouts that share it."""
    plan = make(result, options)
    moved = with_dynamic_starts(result)
    if moved is not None:
        core, plan.starts = moved
        plan.dynamic = known.get((core, options)) or make(core, options)
        known[core, options] = plan.dynamic
    return plan


def _kind(item: Any) -> int:
    return item if item.__class__ is int else item[0]


def _expanded(shape: tuple[int, ...], key: Key) -> list[Any]:
    """The key with Ellipsis spelled out as whole slices, and as many after the last item."""
    used = sum(_kind(i) in (INT, SLICE, ARRAY, HOST) for i in key)
    if used > len(shape):
        raise IndexError(
            f"too many indices: an array of shape {shape} has {len(shape)} dimension"
            f"{'' if len(shape) == 1 else 's'}, but {used} were indexed{here()}"
        )
    if sum(_kind(i) == DOTS for i in key) > 1:
        raise IndexError(f"an index can have only one Ellipsis ('...'){here()}")
    full_slices = [(SLICE, None, None, None)] * (len(shape) - used)
    out: list[Any] = []
    for item in key if any(_kind(i) == DOTS for i in key) else (*key, DOTS):
        # An empty Ellipsis still separates integer arrays, so it stays in the list.
        out.extend((DOTS, *full_slices) if _kind(item) == DOTS else (item,))
    return out


class _Reader:
    """Collects the parts of a layout from the items of an index."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.given = shape
        self.shape: list[int] = list(shape)
        self.axis = 0
        self.operand = 0
        self.flag_axes: list[int] = []
        self.runs: list[Run] = []
        self.picks: list[Pick] = []
        self.order: list[str] = []

    def take(self, item: Any) -> None:
        kind = _kind(item)
        if kind == NONE:
            self.order.append("new")
        elif kind == DOTS:
            self.order.append("dots")
        elif kind == SLICE:
            self._slice(item)
        else:
            self._pick(kind, item)

    def _slice(self, item: Any) -> None:
        start, stop, step = slice(*item[1:]).indices(self.shape[self.axis])
        count = len(range(start, stop, step))
        self.runs.append(Run(self.axis, start if count else 0, count, step if count else 1))
        self.order.append("run")
        self.axis += 1

    def _pick(self, kind: int, item: Any) -> None:
        axis = self.axis
        if kind == FLAG:
            self.shape.insert(axis, 1)
            self.flag_axes.append(axis)
            pick_shape = np.zeros((int(item[1]),), np.int32)
            self.picks.append(Pick(axis, pick_shape, pick_shape.shape, kind))
        else:
            shape = () if kind == INT else item[1]
            if kind == INT and not self.shape[axis]:
                raise IndexError(
                    f"an integer picks from an axis of size 0: axis {axis} of an array of shape "
                    f"{self.given}{here()}"
                )
            if kind == HOST and len(item) == 4 and item[2] not in (0, self.shape[axis]):
                raise IndexError(
                    f"a boolean index does not match the array of shape {self.given}: its "
                    f"dimension {item[3]} has size {item[2]}, the array's dimension {axis} has "
                    f"size {self.shape[axis]}{here()}"
                )
            dtype = item[2] if kind == ARRAY else None
            self.picks.append(Pick(axis, self.operand, shape, kind, dtype))
            self.operand += 1
        self.order.append("pick")
        self.axis += 1


def layout(shape: tuple[int, ...], key: Key) -> Layout:
    """Work out an index.

    Raises:
        IndexError: too many indices, two Ellipses, a mask that does not match, or arrays of
            integers that do not broadcast together.
    """
    reader = _Reader(shape)
    for item in _expanded(shape, key):
        reader.take(item)
    advanced = any(p.shape or p.kind in (FLAG, HOST) for p in reader.picks)
    try:
        pick_shape = np.broadcast_shapes(*(p.shape for p in reader.picks)) if advanced else ()
    except ValueError:
        shapes = ", ".join(str(p.shape) for p in reader.picks)
        raise IndexShapeError(
            f"index arrays of shapes {shapes} do not broadcast together{here()}"
        ) from None
    pick_shape = tuple(int(d) for d in pick_shape)
    before = _runs_before(reader.order) if advanced else 0
    new_axes, result = _result(reader, before, pick_shape)
    return Layout(tuple(reader.shape), tuple(reader.flag_axes), tuple(reader.runs),
                  tuple(reader.picks), advanced, pick_shape, before, new_axes, result)  # fmt: skip


def _runs_before(order: list[str]) -> int:
    """The number of runs before the picks' dimensions: none if the picks are not side by side."""
    at = [i for i, kind in enumerate(order) if kind == "pick"]
    side_by_side = at[-1] - at[0] + 1 == len(at)
    return order[: at[0]].count("run") if side_by_side else 0


def _result(
    reader: _Reader, before: int, pick_shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of new axes in the result, and its shape."""
    at = [i for i, kind in enumerate(reader.order) if kind == "pick"]
    together = bool(at) and at[-1] - at[0] + 1 == len(at)
    dims: list[int] = []
    new: list[int] = []
    runs = iter(reader.runs)
    if at and not together:
        dims += pick_shape
    for i, kind in enumerate(reader.order):
        if kind == "run":
            dims.append(next(runs).count)
        elif kind == "new":
            new.append(len(dims))
            dims.append(1)
        elif kind == "pick" and together and i == at[0]:
            dims += pick_shape
    return tuple(new), tuple(dims)
