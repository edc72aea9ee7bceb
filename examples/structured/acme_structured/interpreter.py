"""Functions of arrays applied to structured arrays: rules by structure, a carrier, a trace."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import wraps
from typing import Any, Protocol

import dovetail_tree.util as tree
from dovetail.hijax import aval_method
from dovetail_core import (
    Carrier,
    LiftTrace,
    Option,
    Primitive,
    RuleConflict,
    RuleTable,
    current_source,
    derive,
    describe_source,
    generation,
    lift_call,
    typeof,
)

from .values import Structured, StructuredType, make, parts_p, type_of


class Choice(StrEnum):
    """What happens where an operation has no rule for a structure."""

    ALLOW = "allow"
    WARN = "warn"
    REFUSE = "refuse"


structured_dense = Option(
    "structured_dense", Choice.ALLOW, str(Choice.__doc__), check=Choice, traced=True
)


class DenseError(TypeError):
    """A structured array would be made dense, and ``structured_dense`` is ``"refuse"``."""


def as_dense(x: Any, why: str) -> Any:
    """The array that ``x`` stands for; says ``why``, or refuses it, as ``structured_dense`` asks.

    Raises:
        DenseError: it is refused.
    """
    if isinstance(x, Structured) and structured_dense.value != Choice.ALLOW:
        text = (
            f"{type_of(x).str_short()} becomes a dense array{describe_source(current_source())}: "
            f"{why}. Register a rule (acme_structured.register), or write dense(x) if it is meant."
        )
        if structured_dense.value == Choice.REFUSE:
            raise DenseError(text)
        warnings.warn(text, stacklevel=2)
    return x.dense() if isinstance(x, Structured) else x


class Dense:
    """In the signature of a rule: an ordinary array or number. (``object`` is either.)"""


class Cases:
    """The rules of one primitive by the structures of its operands; else ``otherwise``, the rule
    that follows from its regions or decomposition; else dense arrays."""

    def __init__(self, primitive: Primitive) -> None:
        self.primitive, self.otherwise = primitive, derive(primitive)
        self.rules: dict[tuple[type, ...], Callable[..., Any]] = {}
        self.used = False

    def __call__(self, carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.used = True
        kinds = [type(x) if isinstance(x, Structured) else Dense for x in args]
        fitting = [s for s in self.rules if len(s) == len(kinds) and all(map(issubclass, kinds, s))]
        fitting.sort(key=lambda s: [k.__mro__.index(c) for k, c in zip(kinds, s)])
        for signature in fitting:
            out = self.rules[signature](*args, **params)
            if out is not NotImplemented:
                return out
        if self.otherwise is not None:
            return self.otherwise(carrier, args, params)
        found = ", ".join(
            (type_of(x) if k is not Dense else typeof(x)).str_short() for x, k in zip(args, kinds)
        )
        why = f"{self.primitive.name} has no rule for {found}"
        return self.primitive.bind(*[as_dense(x, why) for x in args], **params)


class StructuredRule(Protocol):
    """``rule(carrier, args, params)``: operands and result are structured arrays or ordinary ones.

    Rules by structure are registered with ``acme_structured.register(primitive, *structures)``.
    """

    def __call__(self, carrier: Any, args: Any, params: Any) -> Any: ...


structured_rules: RuleTable[Any] = RuleTable(
    "structured.rules", signature=StructuredRule, derive=Cases, law="structured"
)


def register(primitive: Primitive, *structures: type) -> Callable[[Any], Any]:
    """Decorator: a rule, ``rule(*args, **params)``, of ``primitive`` for operands of such classes.

    A class stands for its subclasses, ``Dense`` for ordinary arrays, ``object`` for anything. The
    first operand whose classes differ decides which rule is more specific. The most specific one is
    asked first; if it returns NotImplemented, the next.

    Raises:
        RuleConflict: there is a rule for these classes.
    """

    def add(rule: Any) -> Any:
        cases = structured_rules.entered(primitive)
        if cases is None:
            structured_rules.set(primitive, cases := Cases(primitive))
        if structures in cases.rules:
            names = ", ".join(k.__name__ for k in structures)
            raise RuleConflict(
                f"structured.rules has a rule for {primitive.name} of {names} already"
            )
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
    """A lifted value is a structured array, whose structure is its type, or an ordinary one."""

    key = "structured"

    def trace(self, parent: Any) -> StructuredTrace:
        return StructuredTrace(parent, self, structured_rules)

    def pure(self, x: Any) -> Any:
        return x

    def aval(self, value: Any) -> Any:
        return value.array_type if isinstance(value, Structured) else typeof(value)

    def structure(self, value: Any, depth: int) -> StructuredType | None:
        if not isinstance(value, Structured) or (depth and not type_of(value).is_stacked):
            return None
        return type_of(value).mapped(0, 0) if depth else type_of(value)

    def join_structures(self, a: Any, b: Any) -> Any:
        return a if a == b else None

    def types(self, aval: Any, structure: Any) -> tuple[Any, ...]:
        return (aval,) if structure is None else structure.avals

    def arrays(self, value: Any, structure: Any, depth: int) -> tuple[Any, ...]:
        if structure is None:
            return (as_dense(value, "a loop or branch needs one structure in its place"),)
        return tuple(structure.lower_val(value))

    def value(self, arrays: Sequence[Any], structure: Any, depth: int) -> Any:
        return arrays[0] if structure is None else structure.raise_val(*arrays)

    def known(self, value: Any) -> Any:
        """Scalars are never lifted: so predicates and indices are ordinary ones."""
        if isinstance(value, Structured):
            return None if value.ndim else value.dense()
        return value


CARRIER = StructuredCarrier()


def take(x: Any) -> Any:
    """A structured array, traced or not, as an instance of its class; others as they are."""
    aval = None if isinstance(x, Structured) else typeof(x)
    return aval.raise_val(*parts_p.bind(x)) if isinstance(aval, StructuredType) else x


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
        values = [make(x) if isinstance(x, Structured) else x for x in outs]
        return tree.tree_unflatten(made[0], values)

    return applied


def _operator(name: str, f: Callable[..., Any]) -> None:
    """An operator of structured arrays, and of traced ones, whose types have it."""
    setattr(Structured, f"__{name}__", structured(f))
    setattr(StructuredType, f"_{name}", aval_method(structured(f)))


def _reflected(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: f(y, x)


for _f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul):
    _operator(_f.__name__, _f)
    _operator(f"r{_f.__name__}", _reflected(_f))
_operator("neg", operator.neg)

dense_p = Primitive("structured.dense")
dense_p.def_abstract_eval(lambda x: x)
dense_p.def_decomposition(lambda x: x)
structured_rules.set(dense_p, lambda carrier, args, params: args[0].dense())
dense = structured(dense_p.bind)
"""The dense array that a structured one stands for; others as they are."""
