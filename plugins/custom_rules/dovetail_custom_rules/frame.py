"""One call of a custom function: its flattened arguments, and the checks of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from gc import get_referents
from types import FunctionType, MethodType, ModuleType
from typing import Any, cast
from weakref import ref

from dovetail_core import (
    Tracer,
    UnexpectedTracerError,
    axis_env,
    axis_names,
    bound_axis,
    is_value,
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

from .checks import arrayed, check_type, check_value, closed_over, differences, name_of, names_rule

MOST = 2000
"""The greatest number of objects that are inspected; beyond it all ``wanted`` ones are returned."""


def reachable(f: Any, wanted: Mapping[int, int]) -> set[int]:
    """The numbers of those objects, given by their ids, that a function closes over, directly or
    through other objects."""
    result: set[int] = set()
    todo, seen = [f], set[int]()
    while todo and len(result) < len(wanted):
        x = todo.pop()
        if id(x) in seen:
            continue
        if len(seen) >= MOST:
            return set(wanted.values())
        seen.add(id(x))
        if id(x) in wanted:
            result.add(wanted[id(x)])
        else:
            todo += _within(x)
    return result


def _within(x: Any) -> list[Any]:
    if isinstance(x, FunctionType):
        return [*(x.__closure__ or ()), *(x.__defaults__ or ()), x.__kwdefaults__]
    if isinstance(x, MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, (type, ModuleType, Tracer)):
        return []
    return get_referents(x)


class Frame:
    """The structure of one call: its operands among the arguments, and the trees of both.

    Attributes:
        name: the name of the function.
        statics: values of arguments that are not operands, by position.
        dynamic: positions of the others, whose leaves are the operands, after ``closed`` constants.
        inert: positions that derivative rules do not differentiate (static or not).
        out_tree, out_avals: structure and types of the function's result, once they are known.
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
        """Set the values that the function closes over: the first operands of the call."""
        self.closed = len(consts)
        self.tracers = [(i, ref(x)) for i, x in enumerate(consts) if _is_named(x)]

    def closed_over_by(self, rule: Callable[..., Any]) -> list[int]:
        """The operands that both the function and a rule close over, by index."""
        if not self.tracers:
            return []
        result = reachable(rule, {id(x): i for i, r in self.tracers if (x := r()) is not None})
        return sorted(result)

    def run(self, closed: Mapping[int, Any], rule: Callable[..., Any], *args: Any) -> Any:
        """``rule(*args)`` with the mapped axes in scope that were in scope at the call.

        Args:
            closed: values of operands that the function closes over, by position. They replace
                those that the rule closes over.

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
        """Raise TypeError for a leaf that is not an array; names its path."""
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
        """The position of the argument of each operand after the constants."""
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
        """The leaves of the result of a rule, checked against the function's own result.

        Raises:
            TypeError: it differs from that; names rule, function, path and both types.
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
    """True if ``x`` is traced or mutable, so that rules that use it refer to the operand."""
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
