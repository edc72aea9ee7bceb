"""High primitives whose rules are the methods of an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from dovetail_core import EVAL, AbstractValue, Eqn, MissingMethod, Primitive, get_trace, typeof

from .linearization import bind_pushforward
from .rule_results import plain, symbolic
from .states import Stated, discharge_with_states, infer_with_states


class HiPrimitive:
    """An operation on high values. Subclass it, define methods, and make one object: the primitive.

    ``abstract_eval`` and ``to_lo`` are needed; each other method is the rule of one table. Without
    the method of a table the primitive has no rule there.
    ``name`` is unique among installed packages; a primitive with ``multiple_results`` takes and
    returns lists.
    """

    multiple_results: ClassVar[bool] = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.primitive = self._made(stateful=True)
        self._making = self._made(allocates=True, unlisted=True)

    def _made(self, **how: Any) -> Primitive:
        primitive = Primitive(
            self.name, multiple_results=self.multiple_results, module=type(self).__module__, **how
        )
        primitive.is_high = self.is_high
        primitive.def_effectful_abstract_eval(self._infer)
        primitive.rules = {
            table: getattr(self, made)
            for method, (table, made) in _METHODS.items()
            if getattr(type(self), method) is not getattr(HiPrimitive, method)
        }
        primitive.rules["to_lo"] = self.to_lo
        primitive.rules["refs.discharge"] = partial(discharge_with_states, self.to_lo)
        return primitive

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "to_lojax" in cls.__dict__ and "to_lo" not in cls.__dict__:  # JAX's name
            cls.to_lo = cls.__dict__["to_lojax"]  # type: ignore[method-assign]

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply to values, high and low, under the current trace."""
        if get_trace() is EVAL:
            return self.primitive.bind(*args, **params)
        # It depends on the parameters whether mutable values are made: so there are two primitives.
        result = self.primitive.infer(tuple([typeof(x) for x in args]), params).avals
        makes = any(isinstance(a, Stated) for a in result)
        return (self._making if makes else self.primitive).bind(*args, **params)

    def is_high(self, **params: Any) -> bool:
        """True if the operation must be lowered by ``to_lo`` (with these parameters)."""
        return True

    def abstract_eval(self, *avals: AbstractValue, **params: Any) -> Any:
        """The result's type (a list of types), or a pair of that and a set of effects.

        The type of an operand with a state is an ``AvalMutableQDD``, whose ``mutable_qdd`` is
        updated if the operation changes the state; that of a new mutable value is an ``AvalQDD``.
        """
        raise MissingMethod.of(
            self, "abstract_eval(self, *avals, **params)", f"to apply {self.name!r}"
        )

    def to_lo(self, *args: Any, **params: Any) -> Any:
        """The operation by low operations, on values of the user's classes with arrays in them."""
        raise MissingMethod.of(
            self, "to_lo(self, *args, **params)", f"to evaluate or compile {self.name!r}"
        )

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        """Value and tangent; zero tangents are ``Zero``, and may be returned so."""
        raise NotImplementedError

    def linearize(self, nonzero: Sequence[bool], *primals: Any, **params: Any) -> Any:
        """Value, and the function from tangents (``Zero`` if not ``nonzero``) to the tangent.

        That function is linear; values that it closes over are kept for the backward pass.
        """
        raise NotImplementedError

    def transpose(self, cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]:
        """A cotangent, or None, per operand; ``is_undefined_primal`` tells the linear ones."""
        raise NotImplementedError

    def batch(self, axis: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
        """The result over a mapped axis, and the position of the axis; see ``batching.batch``.

        For high operands and results ``dims`` are specs.
        """
        raise NotImplementedError

    def dce(self, used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
        """Flags of the operands that the used results need, and the reduced equation."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name

    def _infer(self, *avals: AbstractValue, **params: Any) -> Any:
        return infer_with_states(self.abstract_eval, avals, params)

    def _jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        out, tangent = self.jvp(primals, symbolic(primals, tangents), **params)
        return out, [plain(t) for t in tangent] if self.multiple_results else plain(tangent)

    def _linearized_jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        return bind_pushforward(self, primals, tangents, params)

    def forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Values and tangents: see ``dovetail_ad.DeferredLinearization``."""
        if type(self).jvp is not HiPrimitive.jvp:
            out, tangent = self._jvp(primals, tangents, **params)
            return (out, tangent) if self.multiple_results else ([out], [tangent])
        outs, linear = self.split([t is not None for t in tangents], primals, params)
        return outs, linear(*tangents)

    def split(
        self, nonzero: Sequence[bool], primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Callable[..., Sequence[Any]]]:
        """Values, and the linear function of tangents."""
        out, linear = self.linearize(list(nonzero), *primals, **params)
        many = self.multiple_results

        def on_tangents(*tangents: Any) -> list[Any]:
            result = linear(*symbolic(primals, tangents))
            return [plain(t) for t in (result if many else [result])]

        return (out if many else [out]), on_tangents

    def _transpose(self, cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]:
        return [plain(ct) for ct in self.transpose(cotangent, *args, **params)]


_METHODS: dict[str, tuple[str, str]] = {
    "jvp": ("ad.jvp", "_jvp"),
    "linearize": ("ad.jvp", "_linearized_jvp"),
    "transpose": ("ad.transpose", "_transpose"),
    "batch": ("batching.batch", "batch"),
    "dce": ("dce", "dce"),
}
