"""One call of a custom function: its arguments taken apart, and its rules on flat lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from weakref import ref

from dovetail_core import (
    Cache,
    Tracer,
    UnexpectedTracerError,
    axis_env,
    axis_names,
    bound_axis,
    is_value,
    trace_key,
    typeof,
)
from dovetail_custom_rules.replacing import run_replacing
from dovetail_tree.util import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_unflatten,
    treedef_children,
)

from .cells import reachable
from .checks import arrayed, check_type, check_value, closed_over, differences, name_of, names_rule

T = TypeVar("T")
Values = Sequence[Any]
Flags = tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Backward:
    """A rule of reverse mode in two parts.

    Attributes:
        fwd: from operands, and per operand whether it is perturbed, to results, residuals and a
            token that ``bwd`` needs to make sense of the residuals.
        bwd: from token, residuals and cotangents of the results (None for zeros) to one cotangent
            per operand (None for zeros).
        name: of the backward function, for messages.
    """

    fwd: Callable[[Values, Flags], tuple[list[Any], list[Any], Any]]
    bwd: Callable[[Any, Values, Values], list[Any]]
    name: str
    lean: bool = False  # where the residuals turn out unused, the function itself stands in


def varying_beyond(avals: Iterable[Any]) -> Callable[[frozenset[Any], Any], frozenset[Any]]:
    """Over which axes results vary besides those that their types name (``Traits.varies``).

    Args:
        avals: the operands' types that these types were found with; they need not follow operands
            in what varies: the function may have summed.
    """
    known: frozenset[Any] = frozenset().union(*[a.vma for a in avals])
    return lambda vma, _: vma - known


@dataclass(frozen=True, eq=False)
class Transposed:
    """A rule of transposition.

    Attributes:
        linear: per operand, whether the function is linear in it.
        apply: from operands (None in linear places) and cotangents of the results (None for zeros)
            to one cotangent per operand (None for zeros and other places).
    """

    linear: Flags
    apply: Callable[[Values, Values], list[Any]]


@dataclass(frozen=True, eq=False)
class FlatRules:
    """What is known of one function beside its body; absent rules are None.

    Attributes:
        name: of the function.
        origin: the author's rules that these come from, one object however they were lifted.
        fixed: per operand "", or what it is that derivative rules know nothing of.
        jvp: from operands and tangents (None for zeros) to results and tangents.
        vjp: see :class:`Backward`. transpose: see :class:`Transposed`.
        reduce: from which results are used to a function of the operands that returns those.
        batch: ``(axis, operands, dims)`` to results and their dims.
        table_rules: rules of any tables, as their tables want them.
        made: primitives derived from the primitive with these rules, by what they are for.
        closed: how many operands are values that the function closes over; they come first.
        symbolic_zeros: whether derivative rules are shown zeros as such.
    """

    name: str
    origin: Any
    fixed: tuple[str, ...]
    jvp: Callable[[Values, Values], tuple[list[Any], list[Any]]] | None = None
    vjp: Backward | None = None
    transpose: Transposed | None = None
    reduce: Callable[[Flags], Callable[..., list[Any]]] | None = None
    batch: Callable[[Any, Values, Sequence[int | None]], tuple[list[Any], list[Any]]] | None = None
    table_rules: dict[str, Callable[..., Any]] = field(
        default_factory=dict[str, Callable[..., Any]]
    )
    made: Cache[Any, Any] = field(default_factory=Cache[Any, Any])
    closed: int = 0
    symbolic_zeros: bool = False

    def derived(self, program: Any, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` makes for ``key`` of the primitive with the body ``program``; remembered.

        The program is kept, so that its identity stays its own.
        """
        full = id(program), trace_key(), key
        result = self.made.get(full)
        if result is None:
            result = self.made[full] = program, make()
        return result[1]

    @property
    def differentiates(self) -> bool:
        """Whether there is a derivative rule."""
        return self.jvp is not None or self.vjp is not None

    @property
    def only_differentiates(self) -> bool:
        """Whether there is one derivative rule and nothing else."""
        others = self.transpose, self.reduce, self.batch
        one = (self.jvp is None) != (self.vjp is None)
        return one and not self.table_rules and others == (None, None, None)


def body_name(params: dict[str, Any]) -> str:
    """The name of the parameter that is the body of a call: JAX's where JAX has the primitive."""
    return "call_jaxpr" if "call_jaxpr" in params else "program"


def body_of(params: dict[str, Any]) -> Any:
    """The body of a call, None where it was not traced."""
    return params.get("program") or params.get("call_jaxpr")


def pick(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values whose flag is set."""
    return [x for x, f in zip(values, flags) if f]


def spread(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values in the places whose flag is set, None elsewhere."""
    rest = iter(values)
    return [next(rest) if f else None for f in flags]


class Frame:
    """Which arguments of a call are operands, and how operands and results form pytrees.

    Attributes:
        name: of the function.
        statics: values of arguments that are not operands, by position.
        dynamic: positions of the others, whose leaves are the operands, after ``closed`` constants.
        inert: positions that derivative rules do not differentiate (static or not).
        out_tree, out_avals: of the function's result, where they are known yet.
    """

    __slots__ = (
        "name", "count", "statics", "dynamic", "inert", "in_tree", "closed", "out_tree",
        "out_avals", "leaves", "axes", "manual", "tracers",
    )  # fmt: skip

    def __init__(
        self, name: str, args: Sequence[Any], inert: frozenset[int], strict: frozenset[int]
    ) -> None:
        self.name = name
        self.count = len(args)
        self.inert = inert
        for i in strict:
            _refuse_tracer(name, i, args[i])
        self.statics = {i: args[i] for i in inert if i in strict or not _has_tracer(args[i])}
        self.dynamic = [i for i in range(len(args)) if i not in self.statics]
        self.leaves, self.in_tree = tree_flatten(tuple(args[i] for i in self.dynamic))
        self.closed = 0
        self.out_tree: Any = None
        self.out_avals: Any = None
        self.axes = axis_env()
        self.manual = axis_names.manual_axes()
        self.tracers: list[tuple[int, ref[Any]]] = []

    def close(self, consts: Sequence[Any]) -> None:
        """Say which values the function closes over: the call has them as its first operands."""
        self.closed = len(consts)
        self.tracers = [(i, ref(x)) for i, x in enumerate(consts) if _is_named(x)]

    def closed_over_by(self, rule: Callable[..., Any]) -> list[int]:
        """The operands, among those that the function closes over, that a rule closes over, too."""
        if not self.tracers:
            return []
        result = reachable(rule, {id(x): i for i, r in self.tracers if (x := r()) is not None})
        return sorted(result)

    def run(self, closed: Mapping[int, Any], rule: Callable[..., Any], *args: Any) -> Any:
        """``rule(*args)`` with the mapped axes in scope that were in scope where it was called.

        Args:
            closed: values of the operands that the function closes over, as far as there are any,
                by position. Where the rule closes over the same, it gets these.

        Raises:
            UnexpectedTracerError: it uses a traced value that is not an argument; names the rule.
        """
        try:
            if not self.axes:
                return self._run(closed, rule, *args)
            here = dict(axis_env())
            with ExitStack() as stack:
                for name, size in self.axes:
                    if here.get(name) != size:
                        manual, checked = name in self.manual, self.manual.get(name, True)
                        stack.enter_context(bound_axis(name, size, manual, checked))
                return self._run(closed, rule, *args)
        except UnexpectedTracerError as e:
            if names_rule(e):
                raise
            raise closed_over(
                f"{name_of(rule)}, a rule of {self.name}, uses a traced value that is not among "
                f"its arguments: {e} Make the value an argument of {self.name}, so that it is "
                "passed to the rules (a residual, for a backward rule)."
            ) from e

    def _run(self, closed: Mapping[int, Any], rule: Callable[..., Any], *args: Any) -> Any:
        given = [(x, closed[i]) for i, r in self.tracers if i in closed and (x := r()) is not None]
        if not given:
            return rule(*args)
        out, replaced = run_replacing(given, rule, *args)
        return tree_map(replaced, out)

    def constants(self, operands: Sequence[Any]) -> dict[int, Any]:
        """The operands that the function closes over and that are traced, by position."""
        return {i: operands[i] for i, _ in self.tracers}

    def check_leaves(self) -> None:
        """Raise TypeError, with the argument's path, for one that is not an array."""
        for x in self.leaves:
            if not is_value(x):
                self._refuse_leaf()

    def _refuse_leaf(self) -> None:
        tree = tree_unflatten(self.in_tree, self.leaves)
        for path, x in tree_flatten_with_path(tree)[0]:
            try:
                typeof(x)
            except TypeError as e:
                where = f"argument {self.dynamic[cast(Any, path[0]).idx]}{keystr(path[1:])}"
                raise TypeError(
                    f"{self.name}: {where}: {e} For a custom rule, name arguments that are not "
                    "arrays with nondiff_argnums (static_argnums of custom_dce)."
                ) from None

    def owners(self) -> list[int]:
        """Per operand after the constants, the position of its argument."""
        children = treedef_children(self.in_tree)
        return [i for i, c in zip(self.dynamic, children) for _ in range(c.num_leaves)]

    def fixed(self, ignores_closure: bool) -> tuple[str, ...]:
        """See ``FlatRules.fixed``."""
        return (
            *["" if ignores_closure else "a value that the function closes over"] * self.closed,
            *(_inert_text(i) if i in self.inert else "" for i in self.owners()),
        )

    def fill(self, leaves: Sequence[Any]) -> list[Any]:
        """All arguments in order, from one value per leaf."""
        values = iter(tree_unflatten(self.in_tree, list(leaves)))
        return [self.statics[i] if i in self.statics else next(values) for i in range(self.count)]

    def arguments(self, operands: Sequence[Any]) -> list[Any]:
        """All arguments in order, from the operands of the primitive."""
        return self.fill([arrayed(x) for x in operands[self.closed :]])

    def parted(self, arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Arguments that are not differentiated, and those that are."""
        return (
            [arguments[i] for i in sorted(self.inert)],
            [x for i, x in enumerate(arguments) if i not in self.inert],
        )

    def results(self, out: Any, rule: str) -> list[Any]:
        """The leaves of a result that a rule made, checked against the function's own.

        Raises:
            TypeError: it differs from the function's result; names rule, function, path and both.
        """
        leaves, tree = tree_flatten(out)
        if self.out_tree is None:
            for x in leaves:
                check_value(x, f"{rule} returned a result that is not an array")
            self.out_tree = tree
            return [arrayed(x) for x in leaves]
        if tree != self.out_tree:
            raise TypeError(
                f"{rule} returned a result of another structure than {self.name} itself: "
                f"{differences(self.out_tree, tree)}. Return what {self.name} returns."
            )
        for i, (x, want) in enumerate(zip(leaves, self.out_avals or ())):
            check_type(x, want, f"{rule} returned", self.out_tree, i, f"{self.name} returns")
        return [arrayed(x) for x in leaves]


def _is_named(x: Any) -> bool:
    """Whether rules that use ``x`` mean the operand: a value that is traced, or a mutable one."""
    return isinstance(x, Tracer) or typeof(x).is_mutable


def _inert_text(i: int) -> str:
    return f"its argument {i}, which is marked as not differentiable (nondiff_argnums)"


def _has_tracer(tree: Any) -> bool:
    return any(isinstance(x, Tracer) for x in tree_flatten(tree)[0])


def _refuse_tracer(name: str, i: int, value: Any) -> None:
    for x in tree_flatten(value)[0]:
        if isinstance(x, Tracer):
            raise UnexpectedTracerError(
                f"argument {i} of {name} is static (static_argnums), but a traced value of type "
                f"{x.aval.str_short()} was passed in it. Static arguments are Python values: leave "
                f"{i} out of static_argnums, or pass a value that is known while tracing."
            )
