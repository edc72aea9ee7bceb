"""Rules of primitives of ``lax`` that are not elementwise: which slices of results change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail import numpy as dnp
from dovetail.lax import cond
from dovetail_core import Primitive, primitives

from .incremental import Change, common_rows, new_of, old_of, replaced, take, update_rules

Restrict = Callable[[dict[str, Any], int, int], dict[str, Any] | None]
"""``restrict(params, n, k)``: the parameters for ``k`` of the ``n`` slices of the first operand,
where each makes the slice of the result in its place; else None."""


def slicewise(name: str, restrict: Restrict) -> None:
    """Add the rule of a primitive with one array operand that works on each slice by itself."""
    primitive = primitives()[name]

    def rule(compute: Any, old: Any, args: Any, params: Any) -> Any:
        (x,) = args
        if x.rows is None:
            return NotImplemented
        restricted = restrict(params, len(x.new), len(x.rows))
        if restricted is None:
            return NotImplemented
        return replaced(old, x.rows, compute(primitive, [take(x.new, x.rows)], restricted))

    update_rules.set(primitive, rule)


def _kept(name: str) -> Restrict:
    """For parameters that say which axes disappear, or along which it works."""

    def restrict(params: dict[str, Any], n: int, k: int) -> dict[str, Any] | None:
        axes = params[name]
        return None if 0 in (axes if isinstance(axes, tuple) else (axes,)) else params

    return restrict


def _broadcast(params: dict[str, Any], n: int, k: int) -> dict[str, Any] | None:
    stays = params["broadcast_dimensions"][0] == 0 and params["shape"][0] == n
    return {**params, "shape": (k, *params["shape"][1:])} if stays else None


def _reshape(params: dict[str, Any], n: int, k: int) -> dict[str, Any] | None:
    sizes = params["new_sizes"]
    return {**params, "new_sizes": (k, *sizes[1:])} if sizes[:1] == (n,) else None


def _transpose(params: dict[str, Any], n: int, k: int) -> dict[str, Any] | None:
    return params if params["permutation"][0] == 0 else None


for _name in "reduce_max reduce_min reduce_prod reduce_and reduce_or argmax argmin".split():
    slicewise(_name, _kept("axes"))
for _name in "cumsum cumprod cummax cummin cumlogsumexp".split():
    slicewise(_name, _kept("axis"))
slicewise("squeeze", _kept("dimensions"))
slicewise("broadcast_in_dim", _broadcast)
slicewise("reshape", _reshape)
slicewise("transpose", _transpose)


def _added(primitive: Primitive, old: Any, difference: Any, args: Any, params: Any) -> Change:
    """A sum of which some terms changed; once more where infinities or NaN are or were in it."""
    new = old + difference

    def once_more() -> Any:
        return primitive.bind(*map(new_of, args), **params)

    return Change(old, cond(dnp.all(dnp.isfinite(new)), lambda: new, once_more))


@update_rules.register(lax.reduce_sum_p)
def _sum(compute: Any, old: Any, args: Any, params: Any) -> Any:
    (x,) = args
    if x.rows is None:
        return NotImplemented
    if 0 not in params["axes"]:
        return replaced(old, x.rows, compute(lax.reduce_sum_p, [take(x.new, x.rows)], params))
    change = take(x.new, x.rows) - take(x.old, x.rows)
    difference = compute(lax.reduce_sum_p, [change], params)
    return _added(lax.reduce_sum_p, old, difference, args, params)


@update_rules.register(lax.dot_general_p)
def _dot(compute: Any, old: Any, args: Any, params: Any) -> Any:
    """Terms of the sum changed, in one operand or both, or slices of a batch or of a free axis."""
    contracting, batch = params["dimension_numbers"]
    rows = common_rows(args)
    changed = [i for i, x in enumerate(args) if isinstance(x, Change)]
    if rows is None:
        return NotImplemented

    def partial(values: Any, axes: Any) -> Any:
        parts = [x if a is None else take(x, rows, a) for x, a in zip(values, axes)]
        return compute(lax.dot_general_p, parts, params)

    for axes in zip(*contracting):
        if all(axes[i] == 0 for i in changed):
            difference = partial(map(new_of, args), axes) - partial(map(old_of, args), axes)
            return _added(lax.dot_general_p, old, difference, args, params)
    if batch[0] and all(batch[i][0] == 0 for i in changed):
        axes = (batch[0][0], batch[1][0])
    elif changed == [0] and not batch[0]:
        axes = (0, None)
    elif changed == [1] and not batch[0] and len(contracting[0]) == np.ndim(args[0]):
        axes = (None, 0)
    else:
        return NotImplemented
    return replaced(old, rows, partial(map(new_of, args), axes))
