"""The primitives ``custom_jvp_call`` and ``custom_vjp_call``, for functions with one such rule.

The rules of each call are parameters of its equation, under the names that JAX gives them, and
interpreters of programs may run them. Functions with other rules have anonymous primitives
(``primitive.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dovetail_ad import SymbolicZero
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Primitive,
    RegionInterface,
    effects,
    get_trace,
    here,
    jaxpr_as_fun,
    register_numbered,
    run_under,
    stage,
    zeros_like_aval,
)
from dovetail_tree.util import tree_structure

from .checks import closed_over, is_zero
from .flat_rules import FlatRules
from .primitive import inlined, lowered, program_primitive, regions_of_call, type_of_call


class Function:
    """A function of flat arguments, with the parameters of the call to which it belongs."""

    __slots__ = ("f", "name", "call")

    def __init__(self, f: Callable[..., Any], name: str, call: dict[str, Any]) -> None:
        self.f, self.name, self.call = f, name, call

    def call_wrapped(self, *args: Any) -> Any:
        """Run it."""
        return self.f(*args)

    __call__ = call_wrapped

    @property
    def __name__(self) -> str:
        return self.name


def _atoms(jaxpr: Jaxpr) -> Iterator[Sequence[Any]]:
    yield jaxpr.outvars
    for eqn in jaxpr.eqns:
        yield eqn.invars


class CallRules:
    """The rules of one call, as a parameter; subclasses for parts of them."""

    __slots__ = ("rules", "program")

    def __init__(self, rules: FlatRules, program: ClosedJaxpr) -> None:
        self.rules, self.program = rules, program

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.rules.name

    def of_arguments(self, jaxpr: Jaxpr) -> Jaxpr:
        """The program of a rule without operands that the function closes over.

        Raises:
            UnexpectedTracerError: the rule closes over one of them.
        """
        n = self.rules.closed
        closed = set(jaxpr.invars[:n])
        if closed and any(x in closed for xs in _atoms(jaxpr) for x in xs):
            raise closed_over(
                f"a rule of {self.name} closes over a traced value, as the function does, and is "
                f"asked for as a program of the arguments alone{here()}. Make the value an "
                f"argument of {self.name}."
            )
        return jaxpr.replace(invars=jaxpr.invars[n:])

    def flat_function(self, call: dict[str, Any]) -> Function:
        """:meth:`call_flat` as a :class:`Function`."""
        return Function(self.call_flat, self.name, call)

    def call_flat(self, *args: Any) -> list[Any]:
        """The rule as a function of flat arguments."""
        raise NotImplementedError

    def call_wrapped(self, *args: Any) -> Any:
        """Call the parameter by JAX's convention."""
        raise NotImplementedError

    def __call__(self, *args: Any) -> Any:
        return self.call_wrapped(*args)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.rules is self.rules  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), id(self.rules)))

    def __repr__(self) -> str:
        return self.name


class JvpRule(CallRules):
    """``jvp_jaxpr_fun``: maps flags of zero tangents to the program of the rule."""

    __slots__ = ()

    def call_flat(self, *args: Any) -> list[Any]:
        """Results and their tangents, given operands and their tangents."""
        n = len(args) // 2
        primals, tangents = args[:n], [None if is_zero(t) else t for t in args[n:]]
        assert self.rules.jvp is not None
        outs, result = self.rules.jvp(primals, tangents)
        types = [a.tangent_type() for a in self.program.out_avals]
        return [*outs, *(SymbolicZero(a) if t is None else t for t, a in zip(result, types))]

    def call_wrapped(self, *in_zeros: bool) -> tuple[Jaxpr, list[Any], list[bool]]:
        """A program from arguments and nonzero tangents to results and nonzero tangents, the values
        of its constants, and flags of the zero tangents of results."""
        assert self.rules.jvp is not None
        avals = self.program.in_avals
        given = [*[True] * (len(avals) - len(in_zeros)), *in_zeros]
        out_zeros: list[bool] = []

        def run(*xs: Any) -> list[Any]:
            rest = iter(xs[len(avals) :])
            tangents = [None if z else next(rest) for z in given]
            outs, result = self.rules.jvp(xs[: len(avals)], tangents)  # type: ignore[misc]
            out_zeros[:] = [t is None for t in result]
            return [*outs, *(t for t in result if t is not None)]

        dots = [a.tangent_type() for a, z in zip(avals, given) if not z]
        jaxpr, consts = stage(run, [*avals, *dots], self.name)
        return self.of_arguments(jaxpr), consts, out_zeros


class _Vjp(CallRules):
    __slots__ = ()

    def forward(self, mask: tuple[bool, ...]) -> tuple[Jaxpr, list[Any], Any, int]:
        """The program of the forward function, which returns residuals and results; the values of
        its constants, the token for the backward function, and the number of residuals."""
        rules = self.rules
        assert rules.vjp is not None
        info: list[Any] = []

        def run(*xs: Any) -> list[Any]:
            outs, residuals, token = rules.vjp.fwd(xs, mask)  # type: ignore[union-attr]
            info[:] = [token, len(residuals)]
            return [*residuals, *outs]

        jaxpr, consts = stage(run, self.program.in_avals, f"{self.name}_forward")
        return jaxpr, consts, info[0], info[1]

    def known(self) -> tuple[Any, int]:
        """The token of the forward function if all operands are differentiated, and the number of
        residuals; cached."""

        def make() -> tuple[Any, int]:
            return self.forward((True,) * len(self.program.in_avals))[2:]

        return self.rules.derived(self.program, "forward", make)


class VjpForward(_Vjp):
    """``fwd_jaxpr_thunk``: maps flags of operands that are not differentiated to the forward
    program."""

    __slots__ = ()

    def call_flat(self, *args: Any) -> list[Any]:
        """Residuals and results, given operands, each followed by True if it is differentiated."""
        assert self.rules.vjp is not None
        outs, residuals, _ = self.rules.vjp.fwd(args[::2], tuple(map(bool, args[1::2])))
        return [*residuals, *outs]

    def call_wrapped(self, *in_zeros: bool) -> tuple[Jaxpr, list[Any]]:
        """A program from arguments to residuals and results, and the values of its constants."""
        n = len(self.program.in_avals)
        zero = [*[True] * (n - len(in_zeros)), *in_zeros]
        jaxpr, consts, *_ = self.forward(tuple(not z for z in zero))
        return self.of_arguments(jaxpr), consts


class VjpBackward(_Vjp):
    """``bwd``: maps residuals and cotangents of the results to cotangents of the arguments."""

    __slots__ = ()

    def call_flat(self, *args: Any) -> list[Any]:
        """A cotangent for each operand, given residuals and cotangents of the results."""
        assert self.rules.vjp is not None
        token, n = self.known()
        cts = [None if is_zero(ct) else ct for ct in args[n:]]
        result = self.rules.vjp.bwd(token, args[:n], cts)
        types = [a.cotangent_type() for a in self.program.in_avals]
        return [zeros_like_aval(a) if ct is None else ct for ct, a in zip(result, types)]

    def call_wrapped(self, *args: Any) -> Sequence[Any]:
        """A cotangent for each operand that is an argument."""
        return self.call_flat(*args)[self.rules.closed :]


class OutTrees(_Vjp):
    """``out_trees``: the trees of results and residuals, and the operands among the residuals."""

    __slots__ = ()

    def call_wrapped(self) -> tuple[Any, Any, list[int | None]]:
        """Both trees, which are flat, and None for each residual: it is no known operand."""
        n = self.known()[1]
        results = tree_structure((0,) * len(self.program.out_avals))
        return results, tree_structure((0,) * n), [None] * n


for _class in (JvpRule, VjpForward, VjpBackward, OutTrees):
    register_numbered(_class)


Call = tuple[Primitive, dict[str, Any]]

by_functions: list[Callable[[Primitive, Sequence[Any], dict[str, Any]], Any]] = []
"""The function that calls ``subfuns`` given by hand; set by ``function.py``."""


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
        """Apply to values, with the parameters of an equation, or with ``subfuns``: the function
        and its rules, as functions of flat arguments that return lists."""
        if "subfuns" in params:
            params = self._of_functions(params)
            if "subfuns" in params:
                return by_functions[0](self, args, params)
        return get_trace().process(self, args, params)

    def _of_functions(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters of an equation, if all functions are taken from one."""
        calls = [getattr(f, "call", None) for f in params["subfuns"]]
        first = calls[0]
        return first if first is not None and all(w is first for w in calls) else params

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters with which an interpreter of programs binds the primitive."""
        call = dict(params)
        run = Function(jaxpr_as_fun(params["call_jaxpr"]), self.rules_of(params).name, call)
        rules = [params[n].flat_function(call) for n in _FUNCTIONS if n in params]
        kept = {n: params[n] for n in ("out_trees", "symbolic_zeros") if n in params}
        return {**kept, "subfuns": (run, *rules)}


_FUNCTIONS = ("jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd")


def _dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """Keep all of a call or drop it, as its rules concern all operands and results."""
    if any(used) or effects.must_be_kept(eqn.effects):
        return [True] * len(eqn.invars), eqn
    return [False] * len(eqn.invars), None


custom_jvp_call_p = DerivativeCall("custom_jvp_call", "jvp_jaxpr_fun")
custom_vjp_call_p = DerivativeCall("custom_vjp_call", "fwd_jaxpr_thunk")


def program_call(rules: FlatRules, program: ClosedJaxpr) -> Call:
    """The primitive for calls of a function whose body was traced, and the parameters."""
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
    """Set the rule of a table of both primitives to ``rule(primitive)``."""
    for primitive in (custom_jvp_call_p, custom_vjp_call_p):
        assert primitive.rules is not None
        primitive.rules[table] = rule(primitive)


def define_lift(lift: Callable[..., list[Any]]) -> None:
    """Set how calls of both are lifted: ``lift(primitive, rules, carrier, args, params)``."""
    for primitive in (custom_jvp_call_p, custom_vjp_call_p):
        primitive.lift = _lifting(primitive, lift)


def _lifting(primitive: DerivativeCall, lift: Callable[..., list[Any]]) -> Callable[..., Any]:
    def lifted(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return lift(primitive, primitive.rules_of(params), carrier, args, params)

    return lifted


def call_functions(
    custom: Any, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Call a function with its rules, as a function made by ``custom``.

    ``subfuns`` has objects with a method ``call_wrapped``,

    - for forward mode ``fun(*args)`` and ``jvp(*args, *tangents)``, which returns results and
      tangents;
    - for reverse mode ``fun``, ``fwd(arg, is_differentiated, ...)``, which returns residuals and
      results, and ``bwd(*residuals, *cotangents)``; ``out_trees()`` gives the number of residuals,
      and those among them that are operands, which ``fwd`` does not return.
    """
    fun, *rules = params["subfuns"]
    call = custom(lambda *xs: list(fun.call_wrapped(*xs)))
    symbolic = bool(params.get("symbolic_zeros", False))
    if primitive is custom_jvp_call_p:
        (jvp,) = rules

        def forward_mode(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            result = list(jvp.call_wrapped(*primals, *tangents))
            return result[: len(result) // 2], result[len(result) // 2 :]

        call.def_jvp(forward_mode, symbolic)
        return call(*args)
    fwd, bwd = rules

    def forward(*xs: Any) -> Any:
        result = list(fwd.call_wrapped(*[y for x in xs for y in (x, True)]))
        operands = params["out_trees"]()[2]
        n = sum(i is None for i in operands)
        rest = iter(result[:n])
        return result[n:], [next(rest) if i is None else xs[i] for i in operands]

    def backward(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        return tuple(bwd.call_wrapped(*residuals, *cotangents))

    call.def_vjp(forward, backward)
    return call(*args)
