"""High primitives as classes with rules as methods, and their batched forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import SymbolicZero as Zero
from dovetail_batching import Axis, batch_values, carrier_of
from dovetail_core import Eqn, Primitive, cached, with_leading
from dovetail_tree.util import tree_flatten, tree_structure, tree_unflatten

from .operations import HiOperation
from .rule_results import checked

DERIVATIVES = ("jvp", "lin", "vjp_fwd")


def primitive_of(cls: type[HiOperation]) -> Primitive:
    """A primitive for a class; its parameter ``op`` is the object."""
    name, module = cls.__name__, cls.__module__
    primitive = Primitive(name, multiple_results=True, anonymous=True, module=module)
    primitive.is_high = lambda op: True
    primitive.def_effectful_abstract_eval(lambda *avals, op: (op.out_flat, op.effects))
    primitive.def_decomposition(lambda *args, op: op.expand_flat(args))

    def has(*names: str) -> bool:
        return any(getattr(cls, n) is not getattr(HiOperation, n) for n in names)

    rules: dict[str, Callable[..., Any]] = {}
    if has(*DERIVATIVES):
        rules["ad.jvp"] = lambda primals, tangents, op: op.jvp_rule(primals, tangents)
    if has("batch"):
        rules["batching.batch"] = _batch
    elif has(*DERIVATIVES, "dce"):
        rules["batching.batch"] = _batch_as_mapped
    if has("remat"):
        rules["remat.keep"] = _keep
    if has("dce"):
        rules["dce"] = _dce
    primitive.rules = rules
    return primitive


def _batch(axis: Any, args: Sequence[Any], dims: Sequence[Any], /, op: HiOperation) -> Any:
    rule = f"{op!r}.batch"
    out, out_dims = op.batch(axis, op.arguments(args), op.arguments(dims))
    leaves, tree = tree_flatten(out)
    if tree != op.out_tree:
        checked(rule, out, op.out_aval)  # raises
    dims_of_leaves = _spread(out_dims, op.out_aval)
    return leaves, dims_of_leaves


def _spread(dims: Any, tree: Any) -> list[Any]:
    """``dims``, of the structure of ``tree`` or one for all of its leaves, per leaf."""
    n = tree_structure(tree).num_leaves
    if dims is None or isinstance(dims, int):
        return [dims] * n
    leaves = tree_flatten(dims, is_leaf=lambda x: x is None)[0]
    return leaves if len(leaves) == n else [dims] * n


def _batch_as_mapped(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], /, op: HiOperation
) -> Any:
    """Batch by an operation over the axis, whose rules are those of this one, mapped."""
    over = mapped(op, axis)
    operands = [to_front(axis, x, d) for x, d in zip(args, dims)]
    outs = over.primitive.bind(*operands, op=over)
    return outs, [_front(a) for a in op.out_flat]


def _front(aval: Any) -> Any:
    return aval.leading_spec() if aval.is_high else 0


def _keep(policy: Any, eqn: Eqn) -> Any:
    op: HiOperation = eqn.params["op"]
    return op.remat(policy, *op.arguments([x.aval for x in eqn.invars]))


def _dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    op: HiOperation = eqn.params["op"]
    if all(used):
        return [True] * len(eqn.invars), eqn
    if not any(used):
        keep = bool(eqn.effects)
        return [keep] * len(eqn.invars), eqn if keep else None
    needs, rest = op.dce(tree_unflatten(op.out_tree, used))
    needed = _flags(op, needs)
    _check_rest(op, rest, needed, used)
    primitive = type(rest).primitive
    return needed, eqn.replace(
        primitive=primitive,
        invars=[x for x, n in zip(eqn.invars, needed) if n],
        outvars=[v for v, u in zip(eqn.outvars, used) if u],
        params={"op": rest},
        effects=rest.effects,
    )


def _flags(op: HiOperation, needs: Any) -> list[bool]:
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
    for what, result, wanted in (
        ("takes", rest.in_flat, takes), ("returns", rest.out_flat, gives)
    ):  # fmt: skip
        if result != wanted:
            raise TypeError(
                f"{op!r}.dce: the operation {rest!r} that it returned {what} values of types "
                f"({_spell(result)}); those that are used are of types ({_spell(wanted)})."
            )


def _spell(avals: Sequence[Any]) -> str:
    return ", ".join(a.str_short() for a in avals)


class VJPHiPrimitive(HiOperation):
    """An operation with its own rules. Subclass it; an object is the operation at certain types.

    ``__init__`` of the subclass sets ``in_avals`` (a tuple with a pytree of types for each
    argument), ``out_aval`` (a pytree of types) and ``params`` (hashable values, which become
    attributes), and then calls ``super().__init__()``. Calling the object applies the operation.

    ``expand`` is needed. The other rules are optional: ``jvp``, ``lin`` with ``linearized``, and
    ``vjp_fwd`` with ``vjp_bwd`` (or ``vjp_bwd_retval``). Missing ones are derived from one of
    these, else from ``expand``, as are ``batch`` and ``dce``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.primitive = primitive_of(cls)


def mapped(op: HiOperation, axis: Axis) -> HiOperation:
    """``op`` over an axis, the first one of all arguments and results."""
    return _class_of(type(op))(op, axis)


def to_front(axis: Axis, x: Any, dim: Any) -> Any:
    """A value with its mapped axis first; broadcast if it has none."""
    return carrier_of(axis).arrays((x, dim), True, 0)[0]


class Mapped(VJPHiPrimitive):
    """``op`` over ``axis``. Its rules are those of ``op``, mapped."""

    op: HiOperation
    axis: Axis

    def __init__(self, op: HiOperation, axis: Axis) -> None:
        ins = [with_leading(a, axis.size) for a in op.in_flat]
        outs = [with_leading(a, axis.size) for a in op.out_flat]
        self.in_avals = tree_unflatten(op.in_tree, ins)
        self.out_aval = tree_unflatten(op.out_tree, outs)
        self.params = {"op": op, "axis": axis}
        self.effects = op.effects
        super().__init__()

    def __repr__(self) -> str:
        return f"{self.op!r} over an axis of {self.axis.size}"

    def over_axis(self, f: Callable[..., Any], *args: Any) -> Any:
        """``f`` of elements, on trees of values with the axis first, as in its results.

        Symbolic zeros among arguments are zeros of elements; among results they become values.
        """
        leaves, tree = tree_flatten(args)
        carrier = carrier_of(self.axis)
        live = [x for x in leaves if x.__class__ is not Zero]
        out_trees: list[Any] = []

        def on_elements(*xs: Any) -> list[Any]:
            rest = iter(xs)
            full = [self._element(x) if x.__class__ is Zero else next(rest) for x in leaves]
            result, out_tree = tree_flatten(f(*tree_unflatten(tree, full)))
            out_trees[:] = [out_tree]
            return [x.instantiate() if x.__class__ is Zero else x for x in result]

        dims = [carrier.value((x,), True, 0)[1] for x in live]
        outs = batch_values(on_elements, self.axis, live, dims)
        return tree_unflatten(out_trees[0], [carrier.arrays(v, True, 0)[0] for v in outs])

    def _element(self, zero: Zero) -> Zero:
        aval: Any = zero.aval
        if aval.is_high:
            return Zero(aval.mapped(self.axis.size, aval.leading_spec()))
        return Zero(aval.update(shape=aval.shape[1:]))


def _expand(self: Mapped, *args: Any) -> Any:
    return self.over_axis(self.op.expand, *args)


def _jvp(self: Mapped, primals: Any, tangents: Any) -> Any:
    return self.over_axis(self.op.jvp, primals, tangents)


def _lin(self: Mapped, nzs_in: Any, *primals: Any) -> Any:
    return self.over_axis(lambda *xs: self.op.lin(nzs_in, *xs), *primals)


def _linearized(self: Mapped, residuals: Any, *tangents: Any) -> Any:
    return self.over_axis(self.op.linearized, residuals, *tangents)


def _vjp_fwd(self: Mapped, nzs_in: Any, /, *args: Any) -> Any:
    return self.over_axis(lambda *xs: self.op.vjp_fwd(nzs_in, *xs), *args)


def _vjp_bwd_retval(self: Mapped, res: Any, outgrad: Any, /) -> Any:
    op = self.op

    def on_elements(res: Any, outgrad: Any) -> Any:
        cts = tree_flatten(outgrad)[0]
        result = op.pulled_back(res, cts, [True] * len(op.in_flat))
        types = [a.cotangent_type() for a in op.in_flat]
        return op.arguments([Zero(a) if ct is None else ct for ct, a in zip(result, types)])

    return self.over_axis(on_elements, res, outgrad)


def _mapped_dce(self: Mapped, used_outs: Any) -> Any:
    needs, rest = self.op.dce(used_outs)
    return needs, mapped(rest, self.axis)


_RULES: Sequence[tuple[str, str, Callable[..., Any]]] = (
    ("expand", "expand", _expand),
    ("jvp", "jvp", _jvp),
    ("lin", "lin", _lin),
    ("lin", "linearized", _linearized),
    ("vjp_fwd", "vjp_fwd", _vjp_fwd),
    ("vjp_fwd", "vjp_bwd_retval", _vjp_bwd_retval),
    ("dce", "dce", _mapped_dce),
)


@cached(permanent="there is one class of each")
def _class_of(cls: type[HiOperation]) -> type[Mapped]:
    """The class of the mapped operations of a class: it has the rules that the class has."""
    rules = {
        name: rule
        for needed, name, rule in _RULES
        if getattr(cls, needed) is not getattr(HiOperation, needed)
    }
    return type(f"Mapped{cls.__name__}", (Mapped,), {**rules, "__module__": cls.__module__})
