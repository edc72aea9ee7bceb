"""Primitives across a named axis: sums, gathers, exchanges, and one's own index.

Every primitive has ``axes`` (the names it is about) and ``axis_sizes``. A transformation that binds
one of the names (``vmap`` with ``axis_name``) removes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray


def _same(x: Any, *, axes: tuple[Any, ...], axis_sizes: tuple[int, ...]) -> Any:
    return x.strong()


psum_p = Primitive("psum")
pmax_p = Primitive("pmax")
pmin_p = Primitive("pmin")
for _p in (psum_p, pmax_p, pmin_p):
    _p.def_abstract_eval(_same)

axis_index_p = Primitive("axis_index")


@axis_index_p.def_abstract_eval
def _axis_index(*, axes: tuple[Any, ...], axis_sizes: tuple[int, ...]) -> Any:
    return ShapedArray((), np.int32)


ppermute_p = Primitive("ppermute")


@ppermute_p.def_abstract_eval
def _ppermute(
    x: Any, *, axes: tuple[Any, ...], axis_sizes: tuple[int, ...], perm: tuple[tuple[int, int], ...]
) -> Any:
    return x


all_gather_p = Primitive("all_gather")


@all_gather_p.def_abstract_eval
def _all_gather(x: Any, *, axes: Any, axis_sizes: tuple[int, ...], axis: int) -> Any:
    return x.update(shape=(*x.shape[:axis], axis_sizes[0], *x.shape[axis:]))


all_to_all_p = Primitive("all_to_all")


@all_to_all_p.def_abstract_eval
def _all_to_all(
    x: Any, *, axes: Any, axis_sizes: tuple[int, ...], split_axis: int, concat_axis: int
) -> Any:
    rest = [d for i, d in enumerate(x.shape) if i != split_axis]
    rest.insert(concat_axis, axis_sizes[0])
    return x.update(shape=tuple(rest))
