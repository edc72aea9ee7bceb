"""A reduction by a function of two values, in as many rounds as the tree of its calls is high.

    acme.tree(*consts, *elements, *slices) -> (*total, *stacked)

Each call of ``program(*consts, *left, *right, *slices) -> (*both, *stacked)`` makes one value of
two neighbours. The other way round (``down``) ``program(*consts, *both, *slices) -> (*left, *right,
*stacked)`` makes two of one, and the total becomes the elements. There is a slice for each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dovetail_tree.util as tree
from dovetail_core import (
    ClosedJaxpr,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    consts_to_inputs,
    current_source,
    describe_source,
    jaxpr_as_fun,
    stage,
    typeof,
    with_leading,
    without_leading,
)

tree_p = Primitive("acme.tree", multiple_results=True)


@tree_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    program: ClosedJaxpr = params["program"]
    nc, ne, down = params["num_consts"], params["num_elements"], params["down"]
    times = (1, 2) if down else (2, 1)  # how often a region takes, and gives, each element
    slices = len(program.in_avals) - nc - times[0] * ne
    stacked = len(program.out_avals) - times[1] * ne
    consts, elements = list(range(nc)), list(range(nc, nc + ne))
    operands = [*consts, *elements * times[0], *range(nc + ne, nc + ne + slices)]
    results = [*list(range(ne)) * times[1], *range(ne, ne + stacked)]

    def rebuild(programs: Sequence[ClosedJaxpr], operands: Sequence[Operand]) -> dict[str, Any]:
        return {
            "program": programs[0],
            "num_consts": sum(x.kind is Kind.CONSTANT for x in operands),
            "num_elements": sum(x.kind.carried for x in operands),
            "length": params["length"],
            "down": down,
        }

    many, one = (Kind.CARRIED, Kind.SPREAD) if down else (Kind.SPREAD, Kind.CARRIED)
    return RegionInterface(
        (Region(program, tuple(operands), tuple(results)),),
        (*[Kind.CONSTANT] * nc, *[many] * ne, *[Kind.SLICED] * slices),
        (*[one] * ne, *[Kind.STACKED] * stacked),
        rebuild,
        runs="in any order",
        length=params["length"] - 1,
        backward=lambda *new: {**rebuild(*new), "down": not down},
        title="tree_reduce",
    )


@tree_p.def_effectful_abstract_eval
def _type(*avals: Any, **params: Any) -> Any:
    program, ne, length = params["program"], params["num_elements"], params["length"]
    outs: list[Any] = program.out_avals
    elements = [with_leading(a, length) for a in outs[:ne]] if params["down"] else outs[:ne]
    stacked = outs[2 * ne if params["down"] else ne :]
    return [*elements, *(with_leading(a, length - 1) for a in stacked)], _regions(params).effects()


@tree_p.def_decomposition
def _run(
    *operands: Any,
    program: ClosedJaxpr,
    num_consts: int,
    num_elements: int,
    length: int,
    down: bool,
) -> list[Any]:
    import dovetail_lax as lax
    from dovetail_batching import vmap

    consts = operands[:num_consts]
    elements = list(operands[num_consts : num_consts + num_elements])
    slices = operands[num_consts + num_elements :]
    run = jaxpr_as_fun(program)
    calls = vmap(lambda *xs: tuple(run(*consts, *xs)))
    rounds = _rounds(length)
    stacked: list[list[Any]] = []
    if down:
        elements = [lax.expand_dims(x, (0,)) for x in elements]
    for start, pairs in reversed(rounds) if down else rounds:
        now = [lax.slice_in_dim(x, start, start + pairs) for x in slices]
        if down:
            rest = [lax.slice_in_dim(x, pairs, None) for x in elements]
            outs = calls(*[lax.slice_in_dim(x, 0, pairs) for x in elements], *now)
            halves = zip(outs[:num_elements], outs[num_elements : 2 * num_elements])
            new = [_interleaved(a, b) for a, b in halves]
        else:
            rest = [lax.slice_in_dim(x, 2 * pairs, None) for x in elements]
            left = [lax.slice_in_dim(x, 0, 2 * pairs, 2) for x in elements]
            right = [lax.slice_in_dim(x, 1, 2 * pairs, 2) for x in elements]
            outs = calls(*left, *right, *now)
            new = list(outs[:num_elements])
        elements = [lax.concatenate([a, b], 0) for a, b in zip(new, rest)]
        stacked.append(list(outs[num_elements * (1 + down) :]))
    if not down:
        elements = [lax.squeeze(x, (0,)) for x in elements]
    ys = program.out_avals[num_elements * (1 + down) :]
    return [*elements, *_stacks(ys, stacked[::-1] if down else stacked)]


def _rounds(length: int) -> list[tuple[int, int]]:
    """Per round the number of the first call, and how many calls there are."""
    found: list[tuple[int, int]] = []
    start = 0
    while length > 1:
        found.append((start, length // 2))
        start += length // 2
        length -= length // 2
    return found


def _interleaved(a: Any, b: Any) -> Any:
    import dovetail_lax as lax

    both = lax.concatenate([lax.expand_dims(a, (1,)), lax.expand_dims(b, (1,))], 1)
    return lax.reshape(both, (2 * a.shape[0], *a.shape[1:]))


def _stacks(avals: Sequence[Any], rounds: Sequence[Sequence[Any]]) -> list[Any]:
    import dovetail_lax as lax

    if not rounds:
        return [lax.full((0, *a.shape), 0, a.dtype) for a in avals]
    return [lax.concatenate(list(parts), 0) for parts in zip(*rounds)]


def tree_reduce(f: Callable[[Any, Any], Any], xs: Any) -> Any:
    """Reduce the leading axis of all arrays of ``xs`` by an associative function of two values.

    Args:
        f: from two pytrees like a slice of ``xs`` to a third. It may close over arrays, and read
            references; which calls come first is not defined.
        xs: a pytree of arrays, of one length of at least 1.

    Returns: a pytree like a slice of ``xs``.

    Raises:
        ValueError: there are no elements. TypeError: ``f`` returns something of another type.
    """
    leaves, structure = tree.tree_flatten(xs)
    length: int = typeof(leaves[0]).shape[0] if leaves else 0  # type: ignore[attr-defined]
    if length == 0:
        raise ValueError(f"tree_reduce{describe_source(current_source())}: xs has no elements")
    avals = [without_leading(typeof(x)).strong() for x in leaves]
    structures: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        left, right = (tree.tree_unflatten(structure, half) for half in _halves(args))
        outs, found = tree.tree_flatten(f(left, right))
        structures[:] = [found]
        return outs

    jaxpr, consts = stage(flat, [*avals, *avals], getattr(f, "__name__", "f"))
    found = [a.strong() for a in jaxpr.out_avals]
    if structures != [structure] or found != avals:
        raise TypeError(
            f"tree_reduce{describe_source(current_source())}: f returns "
            f"{[a.str_short() for a in found]}, its operands are {[a.str_short() for a in avals]}"
        )
    outs = tree_p.bind(
        *consts, *leaves, program=consts_to_inputs(jaxpr), num_consts=len(consts),
        num_elements=len(leaves), length=length, down=False,
    )  # fmt: skip
    return tree.tree_unflatten(structure, outs)


def _halves(values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[: len(values) // 2], values[len(values) // 2 :]
