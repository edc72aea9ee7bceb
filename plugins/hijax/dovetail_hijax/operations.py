"""High operations as objects, one per use, with types, parameters and rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dovetail_ad import has_tangent
from dovetail_core import (
    NO_EFFECTS,
    Effect,
    MissingMethod,
    Primitive,
    current_source,
    describe_source,
)
from dovetail_tree.util import tree_flatten, tree_unflatten

from .linearization import bind_pushforward, pull_back, tangent_of
from .rule_results import checked, plain, symbolic


class HiOperation:
    """The base class of such operations; users subclass ``VJPHiPrimitive``."""

    primitive: ClassVar[Primitive]
    in_avals: tuple[Any, ...]
    out_aval: Any
    params: dict[str, Any]
    effects: frozenset[Effect] = NO_EFFECTS

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise TypeError(
                    f"{type(self).__name__}.__init__ must set {name} before it calls "
                    f"super().__init__(){describe_source(current_source())}."
                )
        vars(self).update(self.params)
        self.in_avals = tuple(self.in_avals)
        self.in_flat, self.in_tree = tree_flatten(self.in_avals)
        self.out_flat, self.out_tree = tree_flatten(self.out_aval)
        self._key = (
            type(self), tuple(self.in_flat), self.in_tree, tuple(self.out_flat), self.out_tree,
            tuple(sorted(self.params.items())),
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HiOperation) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.params.items())
        return f"{type(self).__name__}({shown})"

    def __call__(self, *args: Any) -> Any:
        """Apply to arguments of the types ``in_avals``.

        Raises:
            TypeError: they are of others; names the argument's path and both types.
        """
        leaves = checked(repr(self), args, self.in_avals, wording=("was applied to", "argument"))
        return tree_unflatten(self.out_tree, self.primitive.bind(*leaves, op=self))

    # Methods that a subclass defines.

    def expand(self, *args: Any) -> Any:
        """The operation by other operations; high arguments are values of the user's classes."""
        raise MissingMethod.of(self, "expand(self, *args)", "to evaluate or compile it")

    def jvp(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        """Value and tangent; a zero tangent is ``Zero``, and may be returned so."""
        raise NotImplementedError

    def lin(self, nzs_in: Any, *primals: Any) -> tuple[Any, Any]:
        """Value and residuals; ``nzs_in`` has True for each leaf with a tangent."""
        raise NotImplementedError

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        """The result's tangent, linear in ``tangents`` (``Zero`` if there is none)."""
        raise NotImplementedError

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple[Any, Any]:
        """Value and residuals for :meth:`vjp_bwd`."""
        raise NotImplementedError

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
        """Pass the arguments' cotangents to their accumulators: ``accum.accum(cotangent)``."""
        raise NotImplementedError

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> tuple[Any, ...]:
        """Return the cotangents, None for zeros; an alternative to :meth:`vjp_bwd`."""
        raise NotImplementedError

    def batch(self, axis_data: Any, args: tuple[Any, ...], dims: tuple[Any, ...]) -> Any:
        """Result over a mapped axis (``axis_data.size``, ``.name``), and the axis in its leaves."""
        raise NotImplementedError

    def dce(self, used_outs: Any) -> tuple[Any, HiOperation]:
        """Flags of the leaves of the arguments that are needed, and an operation from these, as
        arguments, to the used leaves of the result, as a tuple."""
        raise NotImplementedError

    def remat(self, policy: Any, *types: Any) -> Any:
        """The decision of a checkpointed caller on the result, instead of its policy's. ``types``
        are those of the arguments."""
        raise NotImplementedError

    # Methods for the rules: on leaves, with None for zeros.

    def arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """Arguments with these leaves."""
        return tree_unflatten(self.in_tree, leaves)

    def has(self, *methods: str) -> bool:
        """True if the class defines one of these rules."""
        return any(getattr(type(self), m) is not getattr(HiOperation, m) for m in methods)

    def expand_flat(self, leaves: Sequence[Any]) -> list[Any]:
        """``expand`` on leaves."""
        return checked(f"{self!r}.expand", self.expand(*self.arguments(leaves)), self.out_aval)

    def forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[list[Any], list[Any]]:
        """Values and tangents, by ``jvp`` if there is one."""
        if not self.has("jvp"):
            outs, linear = self.split([t is not None for t in tangents], primals, params)
            return outs, linear(*tangents)
        args = self.arguments(primals)
        out, tangent = self._pair("jvp", self.jvp(args, self._tangents(primals, tangents)))
        return self._values("jvp", out), self._out_tangents("jvp", tangent)

    def split(
        self, nonzero: Sequence[bool], primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[list[Any], Callable[..., list[Any]]]:
        """Values and the linear function of tangents, by ``lin`` or ``vjp_fwd``."""
        nonzero = tuple(nonzero)
        nzs, args = self.arguments(nonzero), self.arguments(primals)
        if self.has("vjp_fwd"):
            out, res = self._pair("vjp_fwd", self.vjp_fwd(nzs, *args))
            return self._values("vjp_fwd", out), lambda *ts: tangent_of(self, res, nonzero, ts)
        out, res = self._pair("lin", self.lin(nzs, *args))

        def linear(*tangents: Any) -> list[Any]:
            tangent = self.linearized(res, *self._tangents(primals, tangents))
            return self._out_tangents("linearized", tangent)

        return self._values("lin", out), linear

    def pulled_back(
        self, res: Any, cotangents: Sequence[Any], nonzero: Sequence[bool]
    ) -> list[Any]:
        """Cotangents of the arguments' leaves that are ``nonzero``, by ``vjp_bwd``."""
        return pull_back(self, res, cotangents, nonzero)

    def jvp_rule(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """The rule of ``ad.jvp``."""
        if self.has("lin", "vjp_fwd"):
            rule: Any = self
            return bind_pushforward(rule, primals, tangents, {"op": self})
        return self.forward(primals, tangents, {})

    def _tangents(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
        return self.arguments(symbolic(primals, tangents))

    def _pair(self, rule: str, result: Any) -> tuple[Any, Any]:
        if not isinstance(result, tuple) or len(result) != 2:  # type: ignore[arg-type]
            raise TypeError(
                f"{self!r}.{rule} must return a pair, got {result!r}"
                f"{describe_source(current_source())}."
            )
        return result  # type: ignore[return-value]

    def _values(self, rule: str, out: Any) -> list[Any]:
        return checked(f"{self!r}.{rule}", out, self.out_aval)

    def _out_tangents(self, rule: str, tangent: Any) -> list[Any]:
        types = tree_unflatten(self.out_tree, [a.tangent_type() for a in self.out_flat])
        result = checked(f"{self!r}.{rule} (its tangent)", tangent, types, none=True)
        return [plain(t) if has_tangent(a) else None for t, a in zip(result, self.out_flat)]
