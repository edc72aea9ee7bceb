"""The row of a class of high primitives: its rules are the methods that the class defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dovetail_core import Eqn, Primitive
from dovetail_core.tree.util import tree_flatten, tree_structure, tree_unflatten

from .structures import checked

if TYPE_CHECKING:
    from .classes import VJPHiPrimitive

DERIVATIVES = ("jvp", "lin", "vjp_fwd")


def row_of(cls: type[VJPHiPrimitive], base: type[VJPHiPrimitive]) -> Primitive:
    """A row for a class derived from ``base``; its parameter ``op`` is the object."""
    row = Primitive(cls.__name__, multiple_results=True, anonymous=True, module=cls.__module__)
    row.is_high = lambda op: True
    row.def_effectful_abstract_eval(lambda *avals, op: (op.out_flat, op.effects))
    row.def_decomposition(lambda *args, op: op.expand_flat(args))

    def has(*names: str) -> bool:
        return any(getattr(cls, n) is not getattr(base, n) for n in names)

    rules: dict[str, Callable[..., Any]] = {}
    if has(*DERIVATIVES):
        rules["ad.jvp"] = lambda primals, tangents, op: op.jvp_rule(primals, tangents)
    if has("batch"):
        rules["batching.batch"] = _batch
    elif has(*DERIVATIVES, "dce"):
        rules["batching.batch"] = _batch_whole
    if has("remat"):
        rules["remat.keep"] = _keep
    if has("dce"):
        rules["dce"] = _dce
    row.rules = rules
    return row


def _batch(axis: Any, args: Sequence[Any], dims: Sequence[Any], /, op: VJPHiPrimitive) -> Any:
    rule = f"{op!r}.batch"
    out, out_dims = op.batch(axis, op.arguments(args), op.arguments(dims))
    leaves, tree = tree_flatten(out)
    if tree != op.out_tree:
        checked(rule, out, op.out_aval)  # raises
    places = _spread(out_dims, op.out_aval)
    return leaves, places


def _spread(dims: Any, tree: Any) -> list[Any]:
    """``dims``, of the structure of ``tree`` or one for all of its leaves, per leaf."""
    n = tree_structure(tree).num_leaves
    if dims is None or isinstance(dims, int):
        return [dims] * n
    leaves = tree_flatten(dims, is_leaf=lambda x: x is None)[0]
    return leaves if len(leaves) == n else [dims] * n


def _batch_whole(axis: Any, args: Sequence[Any], dims: Sequence[Any], /, op: VJPHiPrimitive) -> Any:
    """The operation over an axis is one again, whose rules are those of this one, mapped."""
    from .mapped import mapped, to_front

    whole = mapped(op, axis)
    operands = [to_front(axis, x, d) for x, d in zip(args, dims)]
    outs = whole.row.bind(*operands, op=whole)
    return outs, [_front(a) for a in op.out_flat]


def _front(aval: Any) -> Any:
    return aval.leading_spec() if aval.is_high else 0


def _keep(policy: Any, eqn: Eqn) -> Any:
    op: VJPHiPrimitive = eqn.params["op"]
    return op.remat(policy, *op.arguments([x.aval for x in eqn.invars]))


def _dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    op: VJPHiPrimitive = eqn.params["op"]
    if all(used):
        return [True] * len(eqn.invars), eqn
    if not any(used):
        keep = bool(eqn.effects)
        return [keep] * len(eqn.invars), eqn if keep else None
    needs, rest = op.dce(tree_unflatten(op.out_tree, used))
    needed = _flags(op, needs)
    _check_rest(op, rest, needed, used)
    row = type(rest).row
    return needed, eqn.replace(
        primitive=row,
        invars=[x for x, n in zip(eqn.invars, needed) if n],
        outvars=[v for v, u in zip(eqn.outvars, used) if u],
        params={"op": rest},
        effects=rest.effects,
    )


def _flags(op: VJPHiPrimitive, needs: Any) -> list[bool]:
    leaves, tree = tree_flatten(tuple(needs))
    if tree != op.in_tree or not all(isinstance(x, bool) for x in leaves):
        raise TypeError(
            f"{op!r}.dce must return, first, a boolean for each leaf of its arguments "
            f"({op.in_tree}), got {needs!r}."
        )
    return leaves


def _check_rest(op: Any, rest: Any, needed: Sequence[bool], used: Sequence[bool]) -> None:
    takes = [a for a, n in zip(op.in_flat, needed) if n]
    gives = [a for a, u in zip(op.out_flat, used) if u]
    for what, found, wanted in (
        ("takes", rest.in_flat, takes), ("returns", rest.out_flat, gives)
    ):  # fmt: skip
        if found != wanted:
            raise TypeError(
                f"{op!r}.dce: the operation {rest!r} that it returned {what} values of types "
                f"({_spell(found)}); those that are used are of types ({_spell(wanted)})."
            )


def _spell(avals: Sequence[Any]) -> str:
    return ", ".join(a.str_short() for a in avals)
