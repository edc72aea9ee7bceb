"""Rules of one call as parameters of its equation, which readers of programs may run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dovetail_ad import SymbolicZero
from dovetail_core import ClosedJaxpr, Jaxpr, here, register_numbered, stage, zeros_like_aval
from dovetail_tree.util import tree_structure

from .checks import closed_over, is_zero
from .frame import FlatRules


class Function:
    """A function of flat arguments, as a part of the call that it was taken out of."""

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
    """The rules of one call, or the part of them that a parameter is about."""

    __slots__ = ("rules", "program")

    def __init__(self, rules: FlatRules, program: ClosedJaxpr) -> None:
        self.rules, self.program = rules, program

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.rules.name

    def of_arguments(self, jaxpr: Jaxpr) -> Jaxpr:
        """A rule's program without operands that the function closes over.

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
        """What :meth:`call_flat` is, as a part of a call."""
        return Function(self.call_flat, self.name, call)

    def call_flat(self, *args: Any) -> list[Any]:
        """The rule as a function of flat arguments."""
        raise NotImplementedError

    def call_wrapped(self, *args: Any) -> Any:
        """What the parameter stands for, by JAX's convention."""
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
    """``jvp_jaxpr_fun``: from which tangents are zero to the program of the rule."""

    __slots__ = ()

    def call_flat(self, *args: Any) -> list[Any]:
        """Results and their tangents, from operands and their tangents."""
        n = len(args) // 2
        primals, tangents = args[:n], [None if is_zero(t) else t for t in args[n:]]
        assert self.rules.jvp is not None
        outs, result = self.rules.jvp(primals, tangents)
        types = [a.tangent_type() for a in self.program.out_avals]
        return [*outs, *(SymbolicZero(a) if t is None else t for t, a in zip(result, types))]

    def call_wrapped(self, *in_zeros: bool) -> tuple[Jaxpr, list[Any], list[bool]]:
        """A program from arguments and tangents that are not zero to results and such tangents, the
        values of its constants, and which tangents of results are zero."""
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
        its constants, what the backward function must know, and the number of residuals."""
        rules = self.rules
        assert rules.vjp is not None
        said: list[Any] = []

        def run(*xs: Any) -> list[Any]:
            outs, residuals, token = rules.vjp.fwd(xs, mask)  # type: ignore[union-attr]
            said[:] = [token, len(residuals)]
            return [*residuals, *outs]

        jaxpr, consts = stage(run, self.program.in_avals, f"{self.name}_forward")
        return jaxpr, consts, said[0], said[1]

    def known(self) -> tuple[Any, int]:
        """The token of the forward function where all is differentiated, and how many residuals
        there are; remembered."""

        def make() -> tuple[Any, int]:
            return self.forward((True,) * len(self.program.in_avals))[2:]

        return self.rules.derived(self.program, "forward", make)


class VjpForward(_Vjp):
    """``fwd_jaxpr_thunk``: from which operands are not differentiated to the forward program."""

    __slots__ = ()

    def call_flat(self, *args: Any) -> list[Any]:
        """Residuals and results, from operands, each with whether it is differentiated."""
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
    """``bwd``: from residuals and cotangents of the results to those of the arguments."""

    __slots__ = ()

    def call_flat(self, *args: Any) -> list[Any]:
        """A cotangent for each operand, from residuals and cotangents of the results."""
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
    """``out_trees``: the trees of results and residuals, and which residuals are operands."""

    __slots__ = ()

    def call_wrapped(self) -> tuple[Any, Any, list[int | None]]:
        """Both flat; no residual is known to be an operand."""
        n = self.known()[1]
        results = tree_structure((0,) * len(self.program.out_avals))
        return results, tree_structure((0,) * n), [None] * n


for _class in (JvpRule, VjpForward, VjpBackward, OutTrees):
    register_numbered(_class)
