"""The rules that an author has defined for one function, shared by all decorators applied to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dovetail_base import arguments
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    RegistryError,
    ShapedArray,
    callable_name,
    describe_source,
    generation,
    here,
    registry,
)

from .batching import batching_rules, flat_vmap
from .checks import name_of
from .dce import dce_rules, flat_dce
from .derivative_rules import flat_jvp, flat_lin, flat_transpose, flat_vjp
from .flat_rules import FlatRules
from .frame import Frame
from .lifting import lifting_rules
from .primitive import makers
from .pushforward import differentiation_rules
from .reverse import transposition_rules

makers += (
    dce_rules,
    lifting_rules,
    batching_rules,
    transposition_rules,
    differentiation_rules,  # a rule of differentiation comes before that of a linear function
)


class Staged(NamedTuple):
    """A call whose body was traced."""

    primitive: Primitive
    params: dict[str, Any]
    consts: list[Any]
    out_tree: Any


class Rules:
    """The rules of one function, by kind, and its arguments that are not differentiated."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.name = name_of(fun)
        self.by_kind: dict[str, Any] = {}
        self.table_rules: dict[str, Callable[..., Any]] = {}
        self.inert: frozenset[int] = frozenset()
        self.strict: frozenset[int] = frozenset()
        self.needs: set[tuple[str, str, str]] = set()
        self.called = False  # in a staged program
        self.saved: Primitive | None = None
        self.ignores_closure = False  # the derivative does not depend on values closed over
        self._signature = _signature_of(fun)
        self._plain = _plain_count(self._signature)

    def set(self, kind: str, rule: Any) -> None:
        """Set one kind of rule."""
        first = rule[0] if isinstance(rule, tuple) else rule
        if not callable(first):
            raise TypeError(
                f"the {kind} rule of {self.name} must be a function, got {first!r} of type "
                f"{type(first).__name__}{here()}"
            )
        self.by_kind[kind] = rule
        self._changed()

    def set_rule(self, table: str, rule: Callable[..., Any]) -> None:
        """Add the rule of any table.

        Raises:
            RegistryError: no plugin owns a table of that name.
        """
        registry().table(table)
        self.table_rules[table] = rule
        self._changed()

    def _changed(self) -> None:
        if self.called:  # invalidates programs that were traced with the old rules
            generation.set_global(generation.value + 1)

    @property
    def differentiates(self) -> bool:
        """True if there is a derivative rule."""
        return not self.by_kind.keys().isdisjoint(("jvp", "vjp", "lin"))

    @property
    def python(self) -> bool:
        """True if a call that only differentiates concrete values need not trace the body."""
        return not (self.by_kind.keys() & {"transpose", "abstract_eval"} or self.table_rules)

    @property
    def compiled(self) -> bool:
        """True if a rule replaces evaluation, so that the body is not simply called."""
        return "lower" in self.by_kind or "eval" in self.table_rules

    def check_defined(self) -> None:
        """Raise AttributeError if a decorator's own rule was not defined."""
        for kind, decorator, method in sorted(self.needs):
            if kind not in self.by_kind:
                raise AttributeError(
                    f"{decorator} was applied to {self.name}, but no {kind} rule is defined for "
                    f"it{here()}. Define one with {self.name}.{method} before {self.name} is "
                    "called."
                )

    def mark(
        self, what: str, nums: int | Sequence[int], names: str | Iterable[str], strict: bool
    ) -> None:
        """Add arguments that are not differentiated, by position and by name.

        Raises:
            TypeError, ValueError: they are not integers or names, or the function has no such
                argument.
        """
        given: Any = (nums,) if isinstance(nums, int) else arguments.items(what, nums)
        if not all(isinstance(n, int) for n in given):
            raise TypeError(
                f"{what} of {self.name}: argument numbers must be integers, got {nums!r}{here()}"
            )
        named = arguments.strings(what, names)
        parameters = list(self._signature.parameters) if self._signature else []
        for name in named:
            if name not in parameters:
                raise ValueError(
                    f"{what}: {self.name} has no argument {name!r}; it has "
                    f"{', '.join(parameters) or 'no signature that Python knows'}{here()}"
                )
        count = len(parameters) if self._signature is None else _positional(self._signature)
        result = {n + count if n < 0 else n for n in given}
        # A keyword-only argument keeps its value, which is not passed to rules.
        result |= {parameters.index(n) for n in named if not self._is_keyword_only(n)}
        if self._plain is not None and not result <= set(range(self._plain)):
            raise ValueError(
                f"{what}: {self.name} has {self._plain} positional arguments, but argument "
                f"{max(result)} was named{here()}"
            )
        self.inert |= result
        if strict:
            self.strict |= result

    def _is_keyword_only(self, name: str) -> bool:
        assert self._signature is not None
        return self._signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY

    def frame(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Frame:
        """The frame of a call, with its flattened arguments.

        Raises:
            TypeError: they do not bind to the function's parameters.
        """
        if kwargs or len(args) != self._plain:
            args = self._bind(args, kwargs)
        inert = self.inert
        if inert and max(inert) >= len(args):
            inert = frozenset(i for i in inert if i < len(args))
        return Frame(self.name, args, inert, self.strict & inert)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if self._signature is None:
            if kwargs:
                raise TypeError(
                    f"{self.name} has no signature that Python knows, so that keyword arguments "
                    "cannot be resolved: pass all arguments by position."
                )
            return args
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(
                f"the arguments do not fit {self.name}{self._signature}: {e}{here()}"
            ) from None
        bound.apply_defaults()
        # Arguments with a value, by default or by functools.partial, are not passed to rules.
        for name in bound.kwargs.keys() & kwargs.keys():
            raise TypeError(
                f"{self.name}: the keyword-only argument {name!r} has no position, and custom "
                f"rules take their arguments by position{here()}. Make it positional, or give it "
                "its value before, by functools.partial."
            )
        return bound.args


def _signature_of(fun: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (TypeError, ValueError):
        return None


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _positional(signature: inspect.Signature) -> int:
    """The number of arguments that have positions of their own."""
    return sum(p.kind in _POSITIONAL for p in signature.parameters.values())


def _plain_count(signature: inspect.Signature | None) -> int | None:
    """The number of positional arguments if all others have values, else None."""
    if signature is None:
        return None
    for p in signature.parameters.values():
        has_value = p.kind is p.KEYWORD_ONLY and p.default is not p.empty
        if p.kind not in _POSITIONAL and not has_value:
            return None
    return _positional(signature)


def flat_rules(rules: Rules, frame: Frame, in_avals: Sequence[Any] | None) -> FlatRules:
    """The rules for one call; ``in_avals`` are its operands' types if the body was traced."""
    by_kind, table_rules = rules.by_kind, dict(rules.table_rules)
    jvp = vjp = None
    symbolic = False
    if "lin" in by_kind:
        jvp = flat_lin(frame, by_kind["lin"])
    if "jvp" in by_kind:
        jvp = flat_jvp(frame, *by_kind["jvp"])
        symbolic = by_kind["jvp"][1]
    if "vjp" in by_kind:
        vjp = flat_vjp(frame, *by_kind["vjp"])
        symbolic = by_kind["vjp"][2]
    traced = in_avals is not None
    if "lower" in by_kind:
        table_rules["backends.stablehlo"] = _lowering(frame, rules.name, by_kind["lower"])
    return FlatRules(
        rules.name,
        rules,
        frame.fixed(rules.ignores_closure),
        jvp=jvp,
        vjp=vjp,
        transpose=(
            flat_transpose(frame, by_kind["transpose"], in_avals)
            if traced and "transpose" in by_kind
            else None
        ),
        reduce=flat_dce(frame, by_kind["dce"]) if traced and "dce" in by_kind else None,
        batch=flat_vmap(frame, by_kind["vmap"]) if "vmap" in by_kind else None,
        table_rules=table_rules,
        closed=frame.closed,
        symbolic_zeros=bool(symbolic),
    )


def _lowering(frame: Frame, name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    n = frame.closed

    def lower(b: Any, *operands: Any, program: ClosedJaxpr) -> Any:
        wanted = [_spell(a) for a in b.outs]
        result = rule(b, *operands[n:])
        results: list[Any] = [*result] if isinstance(result, (list, tuple)) else [result]
        got = [_spell(x.aval) if hasattr(x, "aval") else repr(x) for x in results]
        if got != wanted:
            raise RegistryError(
                f"the lowering of {name}{describe_source(b.source)} ({callable_name(rule)}) "
                f"returned ({', '.join(got)}), but the results of {name} are "
                f"({', '.join(wanted)}). Return one value per result, of that type."
            )
        return results

    return lower


def _spell(aval: Any) -> str:
    """The shape and element type, which are all that lowered programs have of a type."""
    return ShapedArray(aval.shape, aval.dtype).str_short()
