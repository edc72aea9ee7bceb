"""``custom``: a function for which its author defines rules of transformations, and its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from dovetail_ad import JvpTrace, LinearTrace
from dovetail_core import (
    EVAL,
    AbstractValue,
    MissingRule,
    Primitive,
    ShapedArray,
    Tracer,
    UnexpectedTracerError,
    consts_to_inputs,
    get_trace,
    here,
    run_under,
    stage,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_unflatten

from .checks import check_value, closed_over, names_rule
from .derivative_calls import (
    by_functions,
    call_functions,
    custom_jvp_call_p as custom_jvp_call_p,
    custom_vjp_call_p as custom_vjp_call_p,
    program_call,
)
from .frame import Frame
from .primitive import python_primitive, saved_primitive
from .rules import Rules, Staged, flat_rules

_TABLES = {
    "ad.jvp": "def_jvp or def_vjp",
    "ad.transpose": "def_transpose",
    "backends.reference": "def_rule('backends.reference', ...)",
    "backends.stablehlo": "def_lower",
    "batching.batch": "def_vmap",
}


def untraced(
    name: str,
    type_rule: Callable[..., Any],
    fill: Callable[[Sequence[Any]], Any],
    xs: Sequence[Any],
) -> Any:
    """The result of a function of which only the type is known, on leaves ``xs`` of its arguments.

    It is the result of an operation without rules.

    Args:
        name: the name of the function.
        type_rule: maps arguments with types instead of arrays to the result with types.
        fill: puts leaves into the arguments.

    Raises:
        TypeError: the rule returned a leaf that is not a type; names the function.
    """
    leaves, tree = tree_flatten(type_rule(*fill([typeof(x) for x in xs])))
    types = tuple([_type(name, x) for x in leaves])
    return tree_unflatten(tree, _primitive(name).bind(*xs, types=types))


def _type(name: str, x: Any) -> AbstractValue:
    if isinstance(x, AbstractValue):
        return x
    try:
        return ShapedArray(tuple(x.shape), x.dtype)
    except (AttributeError, TypeError):
        raise TypeError(
            f"the type rule of {name} returned {x!r}{here()}, which is no type of an array: return "
            "something with shape and dtype for each."
        ) from None


def _primitive(name: str) -> Primitive:
    primitive = Primitive(f"{name}_untraced", multiple_results=True, anonymous=True)
    primitive.def_abstract_eval(lambda *avals, types: list(types))
    primitive.rules = {table: _refusing(name, table, how) for table, how in _TABLES.items()}
    return primitive


def _refusing(name: str, table: str, how: str) -> Callable[..., NoReturn]:
    def rule(*args: Any, **params: Any) -> NoReturn:
        raise MissingRule(
            f"{name} has no rule for {table!r}, which is needed{here()}, and none follows from its "
            f"body, which is not traced since its type is defined (def_abstract_eval). Give it "
            f"one: {name}.{how}."
        )

    return rule


def is_only_differentiated(trace: Any, leaves: Any) -> bool:
    """True if all transformations of the arguments are differentiation of concrete values."""
    while isinstance(trace, (JvpTrace, LinearTrace)):
        trace = trace.parent
    if trace is EVAL or not trace.computes:
        return trace is EVAL
    known = all(not isinstance(x, Tracer) or x.concrete() is not None for x in leaves)
    return known or is_only_differentiated(trace.parent, leaves)


def call_python(rules: Rules, frame: Frame) -> Any:
    """The result of a call that is not staged: function and rules run on concrete values."""

    def body(*leaves: Any) -> list[Any]:
        return frame.results(rules.fun(*frame.fill(leaves)), frame.name)

    def evaluate(*leaves: Any) -> list[Any]:
        try:
            return run_under(EVAL, body, *leaves)
        except UnexpectedTracerError as e:
            if names_rule(e):
                raise
            raise closed_over(
                f"{frame.name} is differentiated with respect to a value that the function closes "
                "over, but its custom rule only says how to differentiate with respect to its "
                f"arguments{here()}. Pass the value as an argument that the rule differentiates, "
                "or apply stop_gradient to it."
            ) from e

    primitive = python_primitive(flat_rules(rules, frame, None), body, evaluate)
    outs = primitive.bind(*frame.leaves)
    return tree_unflatten(frame.out_tree, outs)


def staged_call(rules: Rules, frame: Frame) -> Staged:
    """The primitive and program of a call.

    The body is traced at each call, as it, or a static argument, may have changed.
    """
    avals = [typeof(x) for x in frame.leaves]
    frame.leaves = []  # rules keep the frame, and need not keep the arguments alive
    rules.called = True

    def flat(*xs: Any) -> list[Any]:
        leaves, frame.out_tree = tree_flatten(_body(rules, frame, xs))
        for x in leaves:
            check_value(x, f"{frame.name} returned a value that is not an array")
        return leaves

    jaxpr, consts = stage(flat, avals, rules.name)
    program = consts_to_inputs(jaxpr)
    frame.close(consts)
    frame.out_avals = program.out_avals
    primitive, params = program_call(flat_rules(rules, frame, program.in_avals), program)
    return Staged(primitive, params, consts, frame.out_tree)


def _body(rules: Rules, frame: Frame, xs: Sequence[Any]) -> Any:
    """The result of the traced body; of :func:`untraced` if the author defined its type."""
    type_rule = rules.by_kind.get("abstract_eval")
    if type_rule is not None:
        return untraced(rules.name, type_rule, frame.fill, xs)
    try:
        return rules.fun(*frame.fill(xs))
    except NotImplementedError as e:
        if "lower" in rules.by_kind:
            e.add_note(
                f"{rules.name} has a lowering, and the type of its result is that of its body, "
                f"which is traced{here()}. If the body cannot be traced, define the type: "
                f"{rules.name}.def_abstract_eval."
            )
        raise


class custom:  # lower case: used as a decorator
    """A function that takes any subset of rules; transformations derive the rest from its body.

    Args:
        fun: the function, of pytrees of arrays.
        nondiff_argnums, nondiff_argnames: arguments that derivative rules do not differentiate;
            they may be any Python values. Rules of differentiation take them first.
        static_argnums, static_argnames: the same for arguments that may not be traced values;
            the dce rule takes them first as well.

    Applied to a custom function it adds to its rules: decorators may be stacked in any order.
    Keyword arguments and defaults are resolved to positions by the function's signature.
    """

    # Rules that must be defined before the function is called, each with its method.
    _needs: tuple[tuple[str, str, str], ...] = ()

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Iterable[str] = (), *, static_argnums: int | Sequence[int] = (),
        static_argnames: str | Iterable[str] = (),
    ) -> None:  # fmt: skip
        if not callable(fun):  # pyright: ignore[reportUnnecessaryComparison]
            raise TypeError(
                f"{type(self).__name__} takes a function, got {fun!r} of type "
                f"{type(fun).__name__}{here()}"
            )
        rules = fun.rules if isinstance(fun, custom) else Rules(fun)
        self.rules: Rules = rules
        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            value = getattr(rules.fun, attribute, None)
            if isinstance(value, str):
                setattr(self, attribute, value)
        self.__wrapped__ = rules.fun
        rules.mark(type(self).__name__, nondiff_argnums, nondiff_argnames, strict=False)
        rules.mark(type(self).__name__, static_argnums, static_argnames, strict=True)
        rules.needs.update(self._needs)

    @property
    def fun(self) -> Callable[..., Any]:
        """The function without its rules."""
        return self.rules.fun

    @property
    def nondiff_argnums(self) -> tuple[int, ...]:
        """The numbers of the arguments that are not differentiated."""
        return tuple(sorted(self.rules.inert))

    def _defined(self, kind: str, part: int) -> Any:
        rule = self.rules.by_kind.get(kind)
        return None if rule is None else rule[part]

    def def_jvp(self, rule: Callable[..., Any], symbolic_zeros: bool = False) -> Any:
        """Set the rule of forward mode: ``rule(*nondiff, primals, tangents)`` returns the result
        and its tangent.

        With ``symbolic_zeros``, zero tangents are passed as ``SymbolicZero``.
        """
        self.rules.set("jvp", (rule, symbolic_zeros))
        return rule

    def def_lin(self, rule: Callable[..., Any]) -> Any:
        """Set the rule of linearization: ``rule(*args)`` returns the result and a function from
        tangents of the differentiated arguments to the tangent of the result."""
        self.rules.set("lin", rule)
        return rule

    def def_vjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:  # fmt: skip
        """Set the rule of reverse mode.

        ``fwd(*args)`` returns the result and residuals; ``bwd(*nondiff, residuals, cotangent)`` a
        tuple with one cotangent per differentiated argument, with None for zeros. Without a rule of
        forward mode, ``bwd`` is transposed for it.

        Args:
            symbolic_zeros: leaves of ``fwd``'s arguments are ``CustomVJPPrimal``; zero cotangents
                are passed as ``SymbolicZero``.
            optimize_remat: if residuals are not needed (in the first pass of a rematerialised
                function), the function itself runs instead of ``fwd``.
        """
        for f in (fwd, bwd):
            if not callable(f):
                raise TypeError(
                    f"the vjp rule of {self.rules.name} is two functions, fwd and bwd; got {f!r} "
                    f"of type {type(f).__name__}{here()}"
                )
        self.rules.set("vjp", (fwd, bwd, symbolic_zeros, optimize_remat))

    def def_dce(self, rule: Callable[..., Any]) -> Any:
        """Set the rule of dead-code elimination: ``rule(*static, used_outs, *args)``.

        ``used_outs`` has the structure of the result, with a bool per leaf. The rule returns that
        structure, with None for unused leaves. It is applied in staged programs.
        """
        self.rules.set("dce", rule)
        return rule

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Any:
        """Set the rule of batching: ``vmap_rule(axis_size, in_batched, *args)`` returns the result
        and ``out_batched``, of its structure. Mapped axes come first."""
        self.rules.set("vmap", vmap_rule)
        return vmap_rule

    def def_transpose(self, rule: Callable[..., Any]) -> Any:
        """Set the rule of transposition of a function that is linear in its last argument:
        ``rule(*residuals, cotangent)`` returns that argument's cotangent."""
        self.rules.set("transpose", rule)
        return rule

    def def_lower(self, rule: Callable[..., Any]) -> Any:
        """Set the lowering: ``rule(builder, *operands)`` writes StableHLO and returns a list of its
        results, or its one result. Operands are the leaves of the arguments. A transformed function
        is lowered by its body.
        """
        self.rules.set("lower", rule)
        return rule

    def def_abstract_eval(self, rule: Callable[..., Any]) -> Any:
        """Set the type rule: ``rule(*args)``, with types instead of arrays, returns the structure
        of the result with a type (an object with ``shape`` and ``dtype``) for each array.

        The body is then not traced, and need not consist of traceable operations: the function is
        evaluated and compiled by its lowering (:meth:`def_lower`), and transformed only by its
        other rules.
        """
        self.rules.set("abstract_eval", rule)
        return rule

    def def_remat(self, rule: Callable[..., Any]) -> Any:
        """Set the rule of rematerialisation: ``rule(policy, type)`` returns, for each result and
        instead of the caller's policy, a decision of a policy."""
        self.rules.set("remat", rule)
        self.rules.saved = saved_primitive(self.rules.name, rule)
        return rule

    def def_rule(self, table: str, rule: Callable[..., Any]) -> Any:
        """Set the function's rule in any table, by name, with the signature of that table.

        Operands are the leaves of the arguments, after values that the function closes over.
        """
        self.rules.set_rule(table, rule)
        return rule

    defvjp = def_vjp  # JAX's name

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Any:
        """:meth:`def_jvp`, by JAX's name."""
        return self.def_jvp(jvp, symbolic_zeros)

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set the rule of forward mode as a sum: one function ``jvp(tangent, result, *args)`` per
        argument, or None if the tangent does not depend on it."""
        from .derivative_rules import sum_of_jvps

        self.rules.set("jvp", (sum_of_jvps(self.rules.name, self, jvps), False))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        rules = self.rules
        if rules.needs:
            rules.check_defined()
        frame = rules.frame(args, kwargs)
        trace = get_trace()
        if trace.computes and not rules.compiled and not any(
            isinstance(x, Tracer) for x in frame.leaves
        ):  # fmt: skip
            return rules.fun(*frame.fill(frame.leaves))
        frame.check_leaves()
        if rules.differentiates and rules.python and is_only_differentiated(trace, frame.leaves):
            return call_python(rules, frame)
        leaves = frame.leaves
        staged = staged_call(rules, frame)
        outs = staged.primitive.bind(*staged.consts, *leaves, **staged.params)
        if rules.saved is not None:
            outs = [rules.saved.bind(x) for x in outs]
        return tree_unflatten(staged.out_tree, outs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return partial(self, instance)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.rules.name}>"


by_functions.append(partial(call_functions, custom))
