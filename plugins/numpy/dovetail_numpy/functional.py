"""Functions applied along axes of arrays, and functions of elements applied to whole arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_base.source import not_callable
from dovetail_base.wrapping import wraps
from dovetail_core import here
from dovetail_tree.util import tree_map

from .creation.arrays import as_array
from .manipulation.shapes import expand_dims
from .operands import Array, ArrayLike, axis_index
from .operations import reshape as to_shape
from .promotion import broadcast_shapes


@reword_errors
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Array:
    """``func1d`` of each vector along ``axis``; its results' dimensions replace the axis.

    Results may be tuples or other trees of arrays.
    """
    from dovetail_batching import vmap

    if not callable(func1d):
        raise not_callable("func1d", func1d)
    x = as_array("apply_along_axis", arr)
    axis = axis_index("apply_along_axis", axis, x.ndim)

    def f(v: Any) -> Any:
        out = func1d(v, *args, **kwargs)
        return tree_map(lambda leaf: as_array("apply_along_axis", leaf), out)

    for i in range(1, x.ndim - axis):
        f = vmap(f, in_axes=i, out_axes=-1)
    for _ in range(axis):
        f = vmap(f, in_axes=0, out_axes=0)
    return f(x)


@reword_errors
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Any) -> Array:
    """``func(a, axis)`` for one axis after the other; axes that it removes are put back.

    Raises:
        ValueError: a result has neither the same dimensions nor one less.
    """
    x = as_array("apply_over_axes", a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        axis = axis_index("apply_over_axes", axis, x.ndim)
        out = as_array("apply_over_axes", func(x, axis))
        if out.ndim == x.ndim - 1:
            out = expand_dims(out, axis)
        if out.ndim != x.ndim:
            raise ValueError(
                f"apply_over_axes: a result of shape {out.shape} for an argument "
                f"of shape {x.shape}{here()}"
            )
        x = out
    return x


_GROUP = re.compile(r"\(([^()]*)\)")
Core = tuple[str, ...]


def _parse(signature: str) -> tuple[list[Core], list[Core]]:
    """The core dimensions of each argument and result of a signature such as ``(n),(n)->()``.

    Raises:
        ValueError: it is not such a signature.
    """
    arguments.string("signature", signature)
    left, arrow, right = signature.replace(" ", "").partition("->")
    groups = [[tuple(d for d in g.split(",") if d) for g in _GROUP.findall(side)]
              for side in (left, right)]  # fmt: skip
    written = "->".join(",".join(f"({','.join(c)})" for c in side) for side in groups)
    if not all(groups) or not arrow or written != signature.replace(" ", ""):
        raise ValueError(
            f"vectorize: {signature!r} is not a signature{here()}. Write core dimensions in "
            "parentheses, for example '(m,n),(n)->(m)'."
        )
    return groups[0], groups[1]


@reword_errors
def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """``pyfunc`` mapped over broadcast leading dimensions of its arguments.

    Args:
        excluded: numbers and names of arguments that are passed on as they are.
        signature: core dimensions of arguments and results, such as ``"(n),(n)->()"``; without it
            all arguments are scalars. Dimensions of one name have one size. ``2`` is a name like
            any other, as for ``numpy.vectorize``, and says nothing of the size.

    Raises:
        ValueError: the signature is malformed, or arguments do not fit it (when called).
    """
    if not callable(pyfunc):
        raise not_callable("pyfunc", pyfunc)
    excluded = arguments.items("excluded", excluded)
    if not all(isinstance(e, (int, str)) for e in excluded):
        raise TypeError(
            f"vectorize: excluded must be of integers and names, got {excluded}{here()}"
        )
    if any(isinstance(e, int) and e < 0 for e in excluded):
        raise ValueError(
            f"vectorize: numbers of excluded arguments count from 0, got {excluded}{here()}"
        )
    numbers = {e for e in excluded if isinstance(e, int)}
    names = {e for e in excluded if isinstance(e, str)}
    cores = None if signature is None else _parse(signature)

    @wraps(pyfunc)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        unknown = set(kwargs) - names
        fixed = {k: v for k, v in kwargs.items() if k in names}
        absent = {i for i, x in enumerate(args) if x is None and i not in numbers}
        order = [i for i in range(len(args)) if i not in numbers and i not in absent]
        arrays = [_argument(args[i], i) for i in order]
        arrays += [as_array("vectorize", kwargs[k]) for k in sorted(unknown)]

        def core(*values: Any) -> Any:
            full = list(args)
            for i, v in zip(order, values):
                full[i] = v
            named = dict(zip(sorted(unknown), values[len(order) :]))
            out = pyfunc(*full, **fixed, **named)
            if cores is None:
                return out
            return _checked_results(out, cores[1], _core_sizes(values, wanted))

        wanted = [()] * len(arrays) if cores is None else _present(cores[0], absent, numbers)
        return _map(core, arrays, _core_ranks(arrays, wanted, signature))

    return mapped


def _argument(x: Any, position: int) -> Any:
    """An argument as an array; lists are converted."""
    from .creation.arrays import asarray

    return asarray(x) if isinstance(x, (list, tuple)) else as_array("vectorize", x, position)


def _present(wanted: list[Core], absent: set[int], excluded: set[int]) -> list[Core]:
    """The core dimensions of the arguments that are arrays, where those of ``absent`` are None.

    Raises:
        ValueError: one that is None has core dimensions.
    """
    if not absent:
        return wanted
    given = iter(wanted)
    of_all = {i: next(given, None) for i in range(len(wanted) + len(excluded)) if i not in excluded}
    for i in sorted(absent):
        if of_all.get(i) != ():
            raise ValueError(
                f"vectorize: argument {i} is None, which has no core dimensions "
                f"{of_all.get(i)}{here()}"
            )
    return [d for i, d in of_all.items() if d is not None and i not in absent]


def _core_ranks(arrays: list[Any], wanted: Sequence[Core], signature: str | None) -> list[int]:
    if len(wanted) != len(arrays):
        raise TypeError(
            f"vectorize: the signature {signature!r} has {len(wanted)} arguments, got "
            f"{len(arrays)}{here()}"
        )
    sizes: dict[str, int] = {}
    for i, (x, dims) in enumerate(zip(arrays, wanted)):
        if x.ndim < len(dims):
            raise ValueError(
                f"vectorize: argument {i} has shape {x.shape}, but the signature {signature!r} "
                f"wants {len(dims)} core dimensions{here()}"
            )
        for d, n in zip(dims, x.shape[x.ndim - len(dims) :]):
            if sizes.setdefault(d, n) != n:
                raise ValueError(
                    f"vectorize: the core dimension {d!r} of {signature!r} has size {n} in "
                    f"argument {i} of shape {x.shape}, but {sizes[d]} is wanted{here()}"
                )
    return [len(d) for d in wanted]


def _core_sizes(values: Sequence[Any], wanted: Sequence[Core]) -> dict[str, int]:
    """The size of each core dimension of the arguments of one call."""
    return {d: n for v, dims in zip(values, wanted) for d, n in zip(dims, v.shape)}


def _checked_results(out: Any, wanted: Sequence[Core], sizes: dict[str, int]) -> Any:
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != len(wanted):
        raise TypeError(
            f"vectorize: the function returned {len(outs)} results, not {len(wanted)}{here()}"
        )
    for o, dims in zip(outs, wanted):
        if getattr(o, "ndim", 0) != len(dims):
            raise ValueError(
                f"vectorize: a result of shape {getattr(o, 'shape', ())} should have the core "
                f"dimensions ({','.join(dims)}){here()}"
            )
        for d, n in zip(dims, getattr(o, "shape", ())):
            expected = sizes.setdefault(d, n)
            if n != expected:
                raise ValueError(
                    f"vectorize: the core dimension {d!r} has size {n} in a result of shape "
                    f"{o.shape}, but {expected} is wanted{here()}"
                )
    return out


def _map(core: Callable[..., Any], arrays: list[Any], ranks: list[int]) -> Any:
    """``core`` mapped over leading dimensions; those of size 1 are not repeated."""
    from dovetail_batching import vmap

    loops = [x.shape[: x.ndim - r] for x, r in zip(arrays, ranks)]
    shape = broadcast_shapes("vectorize", *loops) if loops else ()
    f, squeezed, axes_of = core, [], []
    for x, loop, rank in zip(arrays, loops, ranks):
        keep = [i for i, d in enumerate(loop) if d != 1 or shape[len(shape) - len(loop) + i] == 1]
        positions = {len(shape) - len(loop) + i for i in keep}
        squeezed.append(to_shape(x, tuple(loop[i] for i in keep) + x.shape[x.ndim - rank :]))
        axes_of.append(positions)
    for level in range(len(shape) - 1, -1, -1):
        in_axes = tuple(0 if level in positions else None for positions in axes_of)
        f = vmap(f, in_axes=in_axes)
    return f(*squeezed)
