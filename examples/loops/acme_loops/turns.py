"""A loop in each step of which two functions run in turns.

    acme.turns(*consts, *carry, *slices of first, *slices of second)
        -> (*carry, *stacked of first, *stacked of second)

Both programs take ``(*consts, *carry, *own slices)`` and return ``(*carry, *own stacked)``.
Backwards the steps come in reverse order, and in each of them ``second`` before ``first``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dovetail_tree.util as tree
from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    Var,
    current_source,
    describe_source,
    jaxpr_as_fun,
    stage,
    typeof,
    with_leading,
    without_leading,
)

turns_p = Primitive("acme.turns", multiple_results=True)


@turns_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    nc, nk = params["num_consts"], params["num_carry"]
    regions: list[Region] = []
    slices, stacked = nc + nk, nk
    for program in (params["first"], params["second"]):
        own = len(program.in_avals) - nc - nk
        ys = len(program.out_avals) - nk
        operands = (*range(nc + nk), *range(slices, slices + own))
        regions.append(Region(program, operands, (*range(nk), *range(stacked, stacked + ys))))
        slices, stacked = slices + own, stacked + ys

    def rebuild(programs: Sequence[ClosedJaxpr], operands: Sequence[Operand]) -> dict[str, Any]:
        kinds = [x.kind for x in operands]
        consts, carry = kinds.count(Kind.CONSTANT), kinds.count(Kind.CARRIED)
        first, second = programs
        counts = {"num_consts": consts, "num_carry": carry}
        return {**params, "first": first, "second": second, **counts}

    return RegionInterface(
        tuple(regions),
        (*[Kind.CONSTANT] * nc, *[Kind.CARRIED] * nk, *[Kind.SLICED] * (slices - nc - nk)),
        (*[Kind.CARRIED] * nk, *[Kind.STACKED] * (stacked - nk)),
        rebuild,
        runs="in turn",
        length=params["length"],
        backward=lambda *new: {**rebuild(*new), "backward": not params["backward"]},
        title="in_turns",
    )


@turns_p.def_effectful_abstract_eval
def _type(*avals: Any, first: ClosedJaxpr, second: ClosedJaxpr, **params: Any) -> Any:
    nk, length = params["num_carry"], params["length"]
    ys: list[Any] = [*first.out_avals[nk:], *second.out_avals[nk:]]
    types = [*first.out_avals[:nk], *(with_leading(a, length) for a in ys)]
    return types, _regions({"first": first, "second": second, **params}).effects()


@turns_p.def_decomposition
def _run(
    *operands: Any, first: ClosedJaxpr, second: ClosedJaxpr, num_consts: int, num_carry: int,
    length: int, backward: bool,
) -> list[Any]:  # fmt: skip
    import dovetail_lax as lax

    consts = operands[:num_consts]
    carry = tuple(operands[num_consts : num_consts + num_carry])
    slices = operands[num_consts + num_carry :]
    n = len(first.in_avals) - num_consts - num_carry
    programs = [first, second][:: -1 if backward else 1]

    def step(carry: Any, xs: Any) -> Any:
        ys: list[Any] = []
        for program, own in zip(programs, xs[:: -1 if backward else 1]):
            outs = jaxpr_as_fun(program)(*consts, *carry, *own)
            carry = tuple(outs[:num_carry])
            ys.append(tuple(outs[num_carry:]))
        return carry, tuple(ys[:: -1 if backward else 1])

    xs = (tuple(slices[:n]), tuple(slices[n:]))
    carry, (ys, zs) = lax.scan(step, carry, xs, length=length, reverse=backward)
    return [*carry, *ys, *zs]


def in_turns(
    first: Callable[[Any, Any], tuple[Any, Any]],
    second: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: tuple[Any, Any] = (None, None),
    length: int | None = None,
) -> tuple[Any, tuple[Any, Any]]:
    """Run two functions in turns, ``length`` times each, on a value that they hand over.

    Args:
        first, second: from the value and a slice of their own part of ``xs`` to the next value, of
            the same types, and a pytree, of which a stack is returned. They may close over arrays,
            and read and write references.
        init: the value at the beginning, a pytree of arrays. xs: two pytrees of arrays of one
            length. length: how often, where ``xs`` is empty.

    Returns: the value in the end, and the two pytrees of stacks.

    Raises:
        ValueError: ``length`` is neither given nor follows. TypeError: the value changes its type.
    """
    carry, structure = tree.tree_flatten(init)
    slices = [tree.tree_flatten(x) for x in xs]
    lengths = {typeof(x).shape[0] for leaves, _ in slices for x in leaves}  # type: ignore
    lengths |= set() if length is None else {length}
    if len(lengths) != 1:
        place = describe_source(current_source())
        raise ValueError(f"in_turns{place}: lengths {sorted(lengths)}, one is needed")
    avals = [typeof(x).strong() for x in carry]
    staged = [
        _staged(f, structure, avals, *own) for f, own in zip((first, second), slices, strict=True)
    ]
    consts = list({id(c): c for _, found, _ in staged for c in found}.values())
    programs = [_with_consts(jaxpr, found, consts) for jaxpr, found, _ in staged]
    n = len(carry)
    leaves = [x for own, _ in slices for x in own]
    outs = turns_p.bind(
        *consts, *carry, *leaves, first=programs[0], second=programs[1], num_consts=len(consts),
        num_carry=n, length=lengths.pop(), backward=False,
    )  # fmt: skip
    middle = len(programs[0].out_avals)
    ys, zs = outs[n:middle], outs[middle:]
    trees = [tree.tree_unflatten(t, part) for (_, _, t), part in zip(staged, (ys, zs))]
    return tree.tree_unflatten(structure, outs[:n]), (trees[0], trees[1])


def _staged(
    f: Callable[..., Any], structure: Any, avals: Sequence[Any], leaves: Sequence[Any], xs: Any
) -> tuple[Jaxpr, list[Any], Any]:
    """The program of one function, its constants, and the structure of what it stacks."""
    trees: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        n = len(avals)
        new, y = f(tree.tree_unflatten(structure, args[:n]), tree.tree_unflatten(xs, args[n:]))
        outs, found = tree.tree_flatten(new)
        ys, y_tree = tree.tree_flatten(y)
        trees[:] = [found, y_tree]
        return [*outs, *ys]

    slices = [without_leading(typeof(x)).strong() for x in leaves]
    jaxpr, consts = stage(flat, [*avals, *slices], getattr(f, "__name__", "f"))
    found = [a.strong() for a in jaxpr.out_avals[: len(avals)]]
    if trees[0] != structure or found != list(avals):
        raise TypeError(
            f"in_turns{describe_source(current_source())}: {jaxpr.name} returns "
            f"{[a.str_short() for a in found]}, it is given {[a.str_short() for a in avals]}"
        )
    return jaxpr, consts, trees[1]


def _with_consts(jaxpr: Jaxpr, own: Sequence[Any], consts: Sequence[Any]) -> ClosedJaxpr:
    """The program with all constants as leading inputs."""
    held = {id(c): v for c, v in zip(own, jaxpr.constvars)}
    given = [held.get(id(c)) or Var(typeof(c)) for c in consts]
    return ClosedJaxpr(jaxpr.replace(constvars=[], invars=[*given, *jaxpr.invars]))
