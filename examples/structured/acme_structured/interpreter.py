"""Functions of arrays applied to structured arrays: a carrier, a trace, and rules by structure."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol

import dovetail_core.tree.util as tree
from dovetail.hijax import aval_method, aval_property
from dovetail_core import (
    Carrier,
    LiftTrace,
    Option,
    Primitive,
    RuleConflict,
    RuleTable,
    algebra,
    current_source,
    derive,
    describe_source,
    generation,
    lift_call,
    typeof,
)

from .values import Structured, StructuredType, make_p, parts_p, type_of

CHOICES = ("allow", "warn", "refuse")


def _choice(value: Any) -> str:
    if value not in CHOICES:
        raise ValueError(f"expected one of {', '.join(CHOICES)}, got {value!r}")
    return value


structured_dense = Option(
    "structured_dense",
    "allow",
    "What happens where an operation has no rule for a structure: allow, warn, refuse.",
    check=_choice,
    traced=True,
)


class DenseWarning(UserWarning):
    """A structured array is used as a dense one."""


class DenseError(TypeError):
    """A structured array would be used as a dense one, and ``structured_dense`` is "refuse"."""


def as_dense(x: Any, why: str) -> Any:
    """The array that ``x`` stands for; says ``why``, or refuses it, as ``structured_dense`` asks.

    Raises:
        DenseError: it is refused.
    """
    if not isinstance(x, Structured):
        return x
    if structured_dense.value != "allow":
        text = (
            f"{type_of(x).str_short()} is used as a dense array{describe_source(current_source())}"
            f": {why}. Register a rule (acme_structured.register), or write dense(x) where it is "
            "meant."
        )
        if structured_dense.value == "refuse":
            raise DenseError(text)
        warnings.warn(text, DenseWarning, stacklevel=2)
    return x.dense()


class Dense:
    """In the signature of a rule: an ordinary array or number. (``object`` is either.)"""


class Cases:
    """The rules of one primitive by the structures of its operands."""

    def __init__(self, primitive: Primitive, otherwise: Any) -> None:
        self.primitive = primitive
        self.otherwise = otherwise  # the rule that derives from regions or a decomposition
        self.rules: dict[tuple[type, ...], Callable[..., Any]] = {}
        self.used = False

    def __call__(self, carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.used = True
        for rule in self.applicable(args):
            out = rule(*args, **params)
            if out is not NotImplemented:
                return out
        if self.otherwise is not None:
            return self.otherwise(carrier, args, params)
        why = f"{self.primitive.name} has no rule for {', '.join(map(_spell, args))}"
        return self.primitive.bind(*[as_dense(x, why) for x in args], **params)

    def applicable(self, args: Sequence[Any]) -> list[Callable[..., Any]]:
        """The rules for these operands, the most specific ones first.

        Raises:
            RuleConflict: two of them are equally specific.
        """
        kinds = tuple(type(x) if isinstance(x, Structured) else Dense for x in args)
        fitting = [s for s in self.rules if _covers(s, kinds)]
        found = sorted(fitting, key=lambda s: -sum(_covers(t, s) for t in fitting))
        for other in found:
            if not _covers(other, found[0]):
                both = " and ".join(
                    f"({', '.join(k.__name__ for k in s)})" for s in (found[0], other)
                )
                raise RuleConflict(
                    f"{self.primitive.name} of {', '.join(map(_spell, args))}"
                    f"{describe_source(current_source())}: its rules for {both} fit equally well. "
                    "Register one for the operands' own structures."
                )
        return [self.rules[s] for s in found]


def _covers(signature: tuple[type, ...], kinds: tuple[type, ...]) -> bool:
    same = len(signature) == len(kinds)
    return same and all(issubclass(k, s) for s, k in zip(signature, kinds))


def _spell(x: Any) -> str:
    return type_of(x).str_short() if isinstance(x, Structured) else typeof(x).str_short()


class StructuredRule(Protocol):
    """``rule(carrier, args, params)``: operands and result are structured arrays or ordinary ones.

    Rules by structure are registered with ``acme_structured.register(primitive, *structures)``.
    """

    def __call__(self, carrier: Any, args: Any, params: Any) -> Any: ...


structured_rules: RuleTable[Any] = RuleTable(
    "structured.rules",
    signature=StructuredRule,
    derive=lambda primitive: Cases(primitive, derive(primitive)),
    law="structured",
)


def register(primitive: Primitive, *structures: type) -> Callable[[Any], Any]:
    """Decorator: the rule of ``primitive`` for operands of these classes, ``rule(*args, **params)``.

    A class stands for its subclasses; ``Dense`` for ordinary arrays, ``object`` for anything. The
    most specific rule is asked first; one that returns NotImplemented passes on to the next.

    Raises:
        RuleConflict: there is a rule for these classes.
    """

    def add(rule: Any) -> Any:
        cases = structured_rules.rules.get(primitive)
        if not isinstance(cases, Cases):
            cases = Cases(primitive, derive(primitive))
            structured_rules.set(primitive, cases)
        if structures in cases.rules:
            names = ", ".join(k.__name__ for k in structures)
            raise RuleConflict(f"{primitive.name} has a rule for ({names}) already")
        cases.rules[structures] = rule
        if cases.used:  # programs that were made without it are made again
            generation.set_global(generation.value + 1)
        return rule

    return add


class StructuredTrace(LiftTrace[Any]):
    """Runs operations on structured arrays by the rules of ``structured.rules``."""

    __slots__ = ()
    what = "structured"


class StructuredCarrier(Carrier[Any, Any]):
    """Lifted values are structured arrays and ordinary ones; the former's structure is their type."""

    key = "structured"
    joined = "a loop or branch has another structure in its place elsewhere"

    def trace(self, parent: Any) -> StructuredTrace:
        return StructuredTrace(parent, self, structured_rules)

    def pure(self, x: Any) -> Any:
        return x

    def aval(self, value: Any) -> Any:
        return value.array_type if isinstance(value, Structured) else typeof(value)

    def structure(self, value: Any, depth: int) -> StructuredType | None:
        if not isinstance(value, Structured):
            return None
        if not depth:
            return type_of(value)
        stacked = all(len(a.shape) > r for a, r in zip(type_of(value).avals, value.ranks.values()))
        return type_of(value).mapped(0, 0) if stacked else None  # type: ignore[return-value]

    def join_structures(self, a: Any, b: Any) -> Any:
        return a if a == b else None

    def types(self, aval: Any, structure: Any) -> tuple[Any, ...]:
        return (aval,) if structure is None else structure.avals

    def arrays(self, value: Any, structure: Any, depth: int) -> tuple[Any, ...]:
        if structure is None:
            return (as_dense(value, self.joined),)
        return tuple(structure.lower_val(value))

    def value(self, arrays: Sequence[Any], structure: Any, depth: int) -> Any:
        return arrays[0] if structure is None else structure.raise_val(*arrays)

    def known(self, value: Any) -> Any:
        return None if isinstance(value, Structured) else value

    def may(self, predicate: Any) -> Any:
        return predicate.dense()

    def select(self, index: Any, cases: Sequence[Any]) -> Any:
        return algebra().pick(index.dense(), [as_dense(x, self.joined) for x in cases])


CARRIER = StructuredCarrier()


def take(x: Any) -> Any:
    """A structured array, traced or not, as an instance of its class; others as they are."""
    if isinstance(x, Structured):
        return x
    aval = typeof(x)
    return aval.raise_val(*parts_p.bind(x)) if isinstance(aval, StructuredType) else x


def give(x: Any) -> Any:
    """An instance of a structured array's class as a value of its high type."""
    return (
        make_p.bind(*type_of(x).lower_val(x), type=type_of(x)) if isinstance(x, Structured) else x
    )


def structured(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, written for arrays, as a function that also takes structured arrays in their place.

    Every operation in it follows the rules of ``structured.rules``; without one, the structured
    array is made dense (the option ``structured_dense`` warns or refuses). Results that have a
    structure keep it.
    """

    @wraps(f)
    def applied(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef = tree.tree_flatten((args, kwargs))
        made: list[Any] = []

        def flat(*leaves: Any) -> list[Any]:
            args, kwargs = tree.tree_unflatten(treedef, leaves)
            outs, out_tree = tree.tree_flatten(f(*args, **kwargs))
            made.append(out_tree)
            return outs

        outs = lift_call(CARRIER, flat, [take(x) for x in leaves])
        return tree.tree_unflatten(made[0], [give(x) for x in outs])

    return applied


def _install_operators() -> None:
    """Operators of structured arrays, and of traced ones (which look them up in their type)."""
    for name in ("add", "sub", "mul", "truediv", "matmul"):
        forward = structured(getattr(operator, name))
        backward = structured(lambda x, y, op=getattr(operator, name): op(y, x))
        for prefix, method in (("", forward), ("r", backward)):
            setattr(Structured, f"__{prefix}{name}__", method)
            setattr(StructuredType, f"_{prefix}{name}", aval_method(method))
    negative, transposed = structured(operator.neg), structured(lambda x: x.mT)
    Structured.__neg__ = negative  # type: ignore[attr-defined]
    StructuredType._neg = aval_method(negative)  # type: ignore[attr-defined]
    Structured.mT = property(transposed)  # type: ignore[attr-defined]
    StructuredType.mT = aval_property(transposed)  # type: ignore[attr-defined]


_install_operators()

dense_p = Primitive("structured.dense")
dense_p.def_abstract_eval(lambda x: x)
dense_p.def_decomposition(lambda x: x)
dense = structured(dense_p.bind)
"""The dense array that a structured one stands for; others as they are."""


@structured_rules.register(dense_p)
def _dense_structured(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    return args[0].dense()
