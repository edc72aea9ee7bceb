"""Hostile samples: cases that samples tend to leave out, derived from them by changed operands.

Each kind of hostility is a function from a sample to others of the same primitive and parameters.
Those that the type rule does not accept are dropped, and so are duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_base.options import enable_x64
from dovetail_core import ShapedArray, needs_x64, programs

from .samples import Sample, is_wide

Operands = Mapping[int, Any]
"""Operands in place of a sample's own, by position."""

_FAMILIES = (
    ("float32", "float16", "bfloat16", "float64"),
    ("complex64", "complex128"),
    ("int32", "int8", "int16", "int64"),
    ("uint32", "uint8", "uint16", "uint64"),
)
FAMILIES = tuple(
    tuple(np.dtype(getattr(ml_dtypes, name, name)) for name in names) for names in _FAMILIES
)
DEFAULTS = tuple(np.dtype(name) for name in ("float32", "complex64", "int32"))
"""The dtypes of Python's numbers, which are weakly typed."""


def hostile(sample: Sample, *, values: bool = True) -> Iterator[tuple[str, Sample]]:
    """Samples derived from ``sample``, each with its kind of hostility.

    ======== ===============================================================================
    size     an axis has no element, or one
    weak     operands are Python's numbers, or scalars where they were arrays
    dtype    operands have another dtype of the same kind; 64 bits under ``enable_x64``
    mixed    some operands are fixed, so that a transformation lifts only the others
    extreme  NaN, infinities, signed zeros; the limits of floats and of integers
    ======== ===============================================================================

    Programs among the parameters are made for the operands' types: where there are some, only
    ``mixed`` is derived.

    Args:
        values: whether to derive samples of other values (``extreme``); not from samples that are
            tagged ``"tame"`` in any case.
    """
    kinds: dict[str, Iterable[Sample]] = {"mixed": _mixed(sample)}
    numbers = all(type(a) is ShapedArray and not a.is_high for a in sample.avals)
    if numbers and not [*programs.subprograms(dict(sample.params))]:
        kinds |= {"size": _sizes(sample), "weak": _weak(sample), "dtype": _dtypes(sample)}
        if values and "tame" not in sample.tags:
            kinds["extreme"] = _extreme(sample)
    seen = {signature(sample)}
    for kind in sorted(kinds):
        for made in kinds[kind]:
            if signature(made) not in seen and accepts(made):
                seen.add(signature(made))
                yield kind, made


def signature(sample: Sample) -> Any:
    """A key of a sample: types, parameters, fixed operands, and the label of special values."""
    types: Any = tuple((x.__class__, getattr(x, "dtype", None), np.shape(x)) for x in sample.args)
    special = sample.name if "extreme" in sample.tags else ""
    return sample.primitive, types, str(sample.params), tuple(sample.fixed), special


def accepts(sample: Sample) -> bool:
    """Return whether the primitive's type rule accepts a sample."""
    try:
        with enable_x64(is_wide(sample)):
            sample.infer()
    except Exception:  # type rules refuse in their own ways
        return False
    return True


def _derived(sample: Sample, operands: Operands, what: str, *tags: str) -> Sample:
    args = tuple(operands.get(i, x) for i, x in enumerate(sample.args))
    more = set(sample.tags) | set(tags)
    if any(np.size(x) == 0 for x in args):
        more.add("empty")
    if any(needs_x64(x.dtype) for x in args if hasattr(x, "dtype")):
        more.add("wide")
    return replace(sample, args=args, tags=frozenset(more), name=f"{sample.label}; {what}")


def _sizes(sample: Sample) -> Iterator[Sample]:
    """Samples with axes of length 0 or 1: all axes of one length, or one axis of all operands."""
    shapes = [np.shape(x) for x in sample.args]
    for n in sorted({d for shape in shapes for d in shape} - {0}):
        for size in (0, 1) if n > 1 else (0,):
            axes = [[i for i, d in enumerate(shape) if d == n] for shape in shapes]
            yield _cut(sample, axes, size, f"{n} is {size}")
    rank = max(map(len, shapes), default=0)
    for axis in range(rank):
        for size in (0, 1):
            axes = [[axis] if len(shape) == rank else [] for shape in shapes]
            yield _cut(sample, axes, size, f"axis {axis} of length {size}")


def _cut(sample: Sample, axes: list[list[int]], size: int, what: str) -> Sample:
    def cut(x: Any, chosen: list[int]) -> Any:
        return x[tuple(slice(size) if i in chosen else slice(None) for i in range(x.ndim))].copy()

    made = {i: cut(np.asarray(x), a) for i, (x, a) in enumerate(zip(sample.args, axes)) if a}
    return _derived(sample, made, what)


def _weak(sample: Sample) -> Iterator[Sample]:
    """Samples with scalars in place of arrays, and with Python's numbers for all or one of them."""
    at = [i for i, x in enumerate(sample.args) if _is_default(x) and np.size(x)]
    scalars = {i: np.asarray(sample.args[i]).ravel()[0] for i in at}
    if any(np.ndim(sample.args[i]) for i in at):
        yield _derived(sample, scalars, "scalars")
    numbers = {i: x.item() for i, x in scalars.items()}
    if numbers:
        yield _derived(sample, numbers, "Python's numbers")
    if len(sample.args) > 1:
        for i, x in numbers.items():
            yield _derived(sample, {i: x}, f"operand {i} is Python's number")
            yield _derived(sample, {**scalars, i: x}, f"scalars, operand {i} is Python's number")


def _is_default(x: Any) -> bool:
    return hasattr(x, "dtype") and x.dtype in DEFAULTS


def _dtypes(sample: Sample) -> Iterator[Sample]:
    """Samples in which all operands of a dtype have another one of its kind, with equal values."""
    arrays = {i: np.asarray(x) for i, x in enumerate(sample.args) if hasattr(x, "dtype")}
    for dtype in dict.fromkeys(x.dtype for x in arrays.values()):
        for family in FAMILIES:
            for other in family if dtype in family else ():
                with np.errstate(all="ignore"):
                    made = {i: x.astype(other)[()] for i, x in arrays.items() if x.dtype == dtype}
                if other != dtype and all(_holds(made[i], arrays[i]) for i in made):
                    yield _derived(sample, made, f"{dtype} is {other}")


def _holds(made: Any, given: Any) -> bool:
    """Return whether a conversion kept the values: integers exactly, others as far as finite."""
    if given.dtype.kind in "iu":
        return bool(np.all(made == given))
    return bool(np.all(np.isfinite(made) == np.isfinite(given)))


def _mixed(sample: Sample) -> Iterator[Sample]:
    """Samples in which one operand alone, or all but one of three or more, is not fixed."""
    n = len(sample.args)
    alone = [{i} for i in range(n)] if n > 1 else []
    others = [set(range(n)) - {i} for i in range(n)] if n > 2 else []
    for free in chain(alone, others):
        yield replace(
            sample,
            args=tuple(x for i, x in enumerate(sample.args) if i in free),
            fixed={i: x for i, x in enumerate(sample.args) if i not in free},
            name=f"{sample.label}; only {', '.join(map(str, sorted(free)))} lifted",
        )


def _extreme(sample: Sample) -> Iterator[Sample]:
    """Special values in the operands of each kind of number, in different combinations."""
    for kinds, choices in (("f", _FLOATS), ("iu", _INTEGERS)):
        at = [i for i, x in enumerate(sample.args) if _kind(x) in (*kinds,) and np.size(x)]
        least = min([np.size(sample.args[i]) for i in at], default=0)
        for name, special in choices.items() if at else ():
            count = len(special(np.dtype(np.int32 if kinds == "iu" else np.float32)))
            turns = -(-(count ** min(len(at), 2)) // least)
            for turn in range(min(turns, MOST)):
                made = {
                    i: _filled(sample.args[i], special, k, turn * least) for k, i in enumerate(at)
                }
                # Large numbers that cancel leave their rounding errors.
                large = [float(np.max(abs(x))) for x in made.values() if name == "large"]
                hard = _derived(sample, made, f"{name} {turn}", "extreme", "nonsmooth")
                yield replace(hard, scale=max([sample.scale, *large]))


MOST = 6
"""The most samples with combinations of special values that are derived."""


def _kind(x: Any) -> str:
    dtype = getattr(x, "dtype", None)
    return "" if dtype is None else "f" if dtype in FAMILIES[0] else dtype.kind


def _filled(x: Any, special: Callable[[Any], list[Any]], position: int, start: int) -> Any:
    """An array like ``x`` of special values. Two operands have as many of all pairs as fit: the
    n-th element has pair 7 n, since 7 shares no factor with the number of pairs."""
    array = np.asarray(x)
    result = np.array(special(array.dtype), array.dtype)
    n = len(result)
    pairs = (start + np.arange(array.size)) * 7 % n**2
    return result[(pairs // n ** (position % 2) + position // 2) % n].reshape(array.shape)[()]


def _not_finite(dtype: Any) -> list[float]:
    return [np.nan, 1.0, np.inf, -0.0, -np.inf, 0.0]


def _large(dtype: Any) -> list[Any]:
    finfo: Any = ml_dtypes.finfo
    info = finfo(dtype)
    most = float(info.max) / 64  # whether a sum overflows depends on its order
    return [most, info.smallest_normal, -1.0, -most]


def _integers(dtype: Any) -> list[int]:
    info = np.iinfo(dtype)
    return [info.max, 0, info.min, 1, -7 if info.min else 7, 2]


_FLOATS = {"not finite": _not_finite, "large": _large}
_INTEGERS = {"integers": _integers}
