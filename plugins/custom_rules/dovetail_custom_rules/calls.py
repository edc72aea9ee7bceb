"""The primitives of functions that have a derivative rule and no other: one for each mode.

Each call has its author's rules among its parameters, where readers of programs find them by the
names that JAX gives them. Functions with other rules have anonymous primitives (``primitive.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Primitive,
    RegionInterface,
    effects,
    get_trace,
    jaxpr_as_fun,
    run_under,
)

from .call_rules import CallRules, Function, JvpRule, OutTrees, VjpBackward, VjpForward
from .frame import FlatRules
from .primitive import inlined, lowered, program_primitive, regions_of_call, type_of_call

Call = tuple[Primitive, dict[str, Any]]

by_functions: list[Callable[[Primitive, Sequence[Any], dict[str, Any]], Any]] = []
"""How functions that are given by hand are called; ``function.py`` says it."""


class DerivativeCall(Primitive):
    """A call of a function with a derivative rule, which is the parameter ``holder``."""

    __slots__ = ("holder",)

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(name, multiple_results=True, anonymous=True)
        self.holder = holder
        self.def_effectful_abstract_eval(type_of_call)
        self.def_regions(self._regions)
        self.def_decomposition(inlined)
        self.rules = {
            "ad.partial_eval": lambda trace, args, params: run_under(
                trace, inlined, *args, **params
            ),
            "backends.stablehlo": lowered,
            "dce": _dce,
            "eval": inlined,
        }

    def _regions(self, params: dict[str, Any]) -> RegionInterface:
        result = regions_of_call(params)
        result.title = self.title(params)
        return result

    def rules_of(self, params: dict[str, Any]) -> FlatRules:
        """The rules of a call.

        Raises:
            TypeError: the parameters are not those of an equation, or of :meth:`get_bind_params`.
        """
        result = params.get(self.holder)
        if not isinstance(result, CallRules):
            raise TypeError(
                f"{self.name}: its parameter {self.holder!r} must be that of an equation, got "
                f"{result!r}. Bind what get_bind_params makes of an equation's parameters."
            )
        return result.rules

    def title(self, params: dict[str, Any]) -> str:
        """The name of the function that is called."""
        return self.rules_of(params).name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply to values: with an equation's parameters, or with ``subfuns``, functions of flat
        arguments that return lists: the function and its rule or rules."""
        if "subfuns" in params:
            params = self._of_functions(params)
            if "subfuns" in params:
                return by_functions[0](self, args, params)
        return get_trace().process(self, args, params)

    def _of_functions(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters of an equation, where the functions are those of one."""
        whole = [getattr(f, "call", None) for f in params["subfuns"]]
        first = whole[0]
        return first if first is not None and all(w is first for w in whole) else params

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters with which an interpreter of programs binds the primitive."""
        call = dict(params)
        run = Function(jaxpr_as_fun(params["call_jaxpr"]), self.rules_of(params).name, call)
        rules = [params[n].flat_function(call) for n in _FUNCTIONS if n in params]
        kept = {n: params[n] for n in ("out_trees", "symbolic_zeros") if n in params}
        return {**kept, "subfuns": (run, *rules)}


_FUNCTIONS = ("jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd")


def _dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """All or nothing: rules speak of all operands and results."""
    if any(used) or effects.must_be_kept(eqn.effects):
        return [True] * len(eqn.invars), eqn
    return [False] * len(eqn.invars), None


custom_jvp_call_p = DerivativeCall("custom_jvp_call", "jvp_jaxpr_fun")
custom_vjp_call_p = DerivativeCall("custom_vjp_call", "fwd_jaxpr_thunk")


def program_call(rules: FlatRules, program: ClosedJaxpr) -> Call:
    """The primitive for calls of a function whose body was traced, and its parameters."""
    if not rules.only_differentiates:
        return program_primitive(rules), {"program": program}
    if rules.jvp is not None:
        return custom_jvp_call_p, {
            "call_jaxpr": program,
            "jvp_jaxpr_fun": JvpRule(rules, program),
            "num_consts": rules.closed,
            "symbolic_zeros": rules.symbolic_zeros,
        }
    return custom_vjp_call_p, {
        "call_jaxpr": program,
        "fwd_jaxpr_thunk": VjpForward(rules, program),
        "bwd": VjpBackward(rules, program),
        "num_consts": rules.closed,
        "out_trees": OutTrees(rules, program),
        "symbolic_zeros": rules.symbolic_zeros,
    }


def define(table: str, rule: Callable[..., Any]) -> None:
    """Give both a rule of a table, made by ``rule(primitive)``."""
    for primitive in (custom_jvp_call_p, custom_vjp_call_p):
        assert primitive.rules is not None
        primitive.rules[table] = rule(primitive)


def define_lift(lift: Callable[..., list[Any]]) -> None:
    """Say how both are lifted whole: ``lift(primitive, rules, carrier, args, params)``."""
    for primitive in (custom_jvp_call_p, custom_vjp_call_p):
        primitive.lift = _lifting(primitive, lift)


def _lifting(primitive: DerivativeCall, lift: Callable[..., list[Any]]) -> Callable[..., Any]:
    def lifted(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return lift(primitive, primitive.rules_of(params), carrier, args, params)

    return lifted
