"""The IR: variables, literals, equations and programs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from dovetail_base.nesting import Remembering
from dovetail_base.source import Source
from dovetail_base.source_info import Annotated, SourceInfo, annotations_of

from ..dispatch.axis_names import trace_key
from ..dispatch.primitive import HeldProgram, Primitive
from ..dispatch.tracer import Tracer
from ..registry.discovery import registry
from ..types.avals import AbstractValue
from ..types.effects import NO_EFFECTS, Effects, RetypeEffect, moved_effects, program_effects
from ..types.typeof import typeof

__all__ = (
    "Atom",
    "ClosedJaxpr",
    "Eqn",
    "Jaxpr",
    "Literal",
    "Var",
    "contains_high",
    "equal_literals",
    "open_program",
    "subprograms",
    "walk_programs",
)


class Var:
    """A variable, compared by identity; it has a type and no name (the printer gives names)."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var:{self.aval.str_short()}"


class Literal:
    """A constant written into an equation: a Python or NumPy scalar, with its type."""

    __slots__ = ("val", "aval")

    def __init__(self, val: Any, aval: AbstractValue) -> None:
        self.val = val
        self.aval = aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.str_short()}"


Atom = Var | Literal


class Eqn:
    """An equation, ``outvars = primitive[params](invars)``, with effects and the user's line."""

    __slots__ = ("primitive", "invars", "outvars", "params", "effects", "source")

    def __init__(
        self,
        primitive: Primitive,
        invars: list[Any],
        outvars: list[Var],
        params: dict[str, Any],
        effects: Effects,
        source: Source | None,
    ) -> None:
        self.primitive = primitive
        self.invars: list[Atom] = invars
        self.outvars = outvars
        self.params = params
        self.effects = effects
        self.source = source

    @property
    def source_info(self) -> SourceInfo:
        """The user's line and the scopes around it."""
        return SourceInfo.of(self.source)

    @property
    def ctx(self) -> Annotated:
        """The operation's context beside its scopes: ``with eqn.ctx.manager:`` enters it."""
        return Annotated(annotations_of(self.source))

    def replace(self, **changes: Any) -> Eqn:
        """A copy with some fields replaced; ``source_info`` is another way to give ``source``."""
        if "source_info" in changes:
            changes["source"] = changes.pop("source_info").source
        return Eqn(**{**{k: getattr(self, k) for k in Eqn.__slots__}, **changes})

    def __repr__(self) -> str:
        return f"Eqn({self.primitive.name}: {self.invars} -> {self.outvars})"


class Jaxpr:
    """A program: constants and inputs to outputs through equations in order.

    ``effects`` name inputs by position among ``constvars + invars``. ``is_high`` is true if a high
    type or primitive occurs anywhere in it (None: computed from variables and sub-programs), and
    ``mut_types`` are the final types of mutable inputs whose type changes inside it, by the same
    positions. ``debug_info``, with a ``func_name``, gives a program its name, if ``name`` does not.
    Programs are immutable after they are built (tests ensure it:
    ``dovetail_testing.freeze_programs``), and compare by structure (names of variables and source
    lines do not count).
    """

    __slots__ = (
        "constvars", "invars", "outvars", "eqns", "effects", "is_high", "mut_types", "name",
        "_hash", "typed", "__weakref__",
    )  # fmt: skip

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[Eqn],
        *,
        effects: Effects | None = None,
        is_high: bool | None = False,
        mut_types: dict[int, AbstractValue] | None = None,
        name: str = "",
        debug_info: Any = None,
    ) -> None:
        self.constvars = list(constvars)
        self.invars = list(invars)
        self.outvars = list(outvars)
        self.eqns = list(eqns)
        self.mut_types = mut_types or {}
        self.effects = self._collect_effects() if effects is None else effects
        self.is_high = contains_high(self) if is_high is None else is_high
        self.name = debug_info.func_name if debug_info is not None else name
        self._hash: int | None = None
        self.typed: dict[bool, Any] = {}
        """By mode of 64-bit types: the program to evaluate in place of this one."""

    def _collect_effects(self) -> Effects:
        effects = NO_EFFECTS
        positions: dict[Any, int] = {}
        for eqn in self.eqns:
            if eqn.effects:
                if not positions:
                    positions = {v: i for i, v in enumerate(self.constvars + self.invars)}
                effects |= program_effects(eqn.effects, eqn.invars, positions)
        if self.mut_types:
            effects |= {RetypeEffect(i, t) for i, t in self.mut_types.items()}
        return effects

    @property
    def debug_info(self) -> Any:
        """The function that it was traced from, as the provider ``debug_info`` describes it."""
        return registry().provider("debug_info")(self.name)

    @property
    def in_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.outvars]

    def replace(self, **changes: Any) -> Jaxpr:
        """A copy with some fields replaced; effects are collected again if they may change."""
        fields = {k: getattr(self, k) for k in _FIELDS}
        moved = "invars" in changes or "constvars" in changes
        if "eqns" in changes or (moved and (self.effects or changes.get("mut_types"))):
            fields["effects"] = None
        return Jaxpr(**{**fields, **changes})

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Jaxpr) and hash(self) == hash(other) and _same_programs(self, other)
        )

    def pretty_print(self, **options: Any) -> str:
        """The program's text, as ``str``; options of JAX's printer change nothing."""
        return str(self)

    def text_of(self, eqn: Eqn) -> str:
        """The text of one of its equations, with the names of variables of the program's text."""
        return repr(eqn)

    def __hash__(self) -> int:
        if self._hash is None:
            # Innermost first, or the nesting of programs were that of frames on the stack.
            for program in reversed([open_program(p) for p in walk_programs(self)]):
                if program._hash is None:
                    program._hash = program._digest()
        assert self._hash is not None
        return self._hash

    def _digest(self) -> int:
        """A hash of types, primitives, and sub-programs."""
        types = tuple([v.aval for v in self.constvars + self.invars + self.outvars])
        within = [p for e in self.eqns if e.primitive.regions for p in subprograms(e.params)]
        return hash((types, tuple([e.primitive for e in self.eqns]), tuple(map(hash, within))))


_FIELDS = Jaxpr.__slots__[:-3]
_missing: Any = object()


class ClosedJaxpr(HeldProgram, Remembering):
    """A program and the values of its constants; ``cache`` keeps values derived from it.

    A closed program may be closed again, without values: primitives have closed ones as parameters
    where another interface has open ones.
    """

    __slots__ = ("jaxpr", "consts", "__weakref__")

    def __init__(self, jaxpr: Jaxpr | ClosedJaxpr, consts: Sequence[Any] = ()) -> None:
        program = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
        if isinstance(jaxpr, ClosedJaxpr):
            consts = consts or jaxpr.consts
        if len(consts) != len(program.constvars):
            raise ValueError(
                f"the program has {len(program.constvars)} constants, {len(consts)} values given"
            )
        super().__init__()
        self.jaxpr: Jaxpr = program
        self.consts = list(consts)

    def pretty_print(self, **options: Any) -> str:
        """The program's text, as ``str``; options of JAX's printer change nothing."""
        return str(self)

    def memo(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of ``make()``, computed once per ``key`` and kept while the program lives.

        For values derived from the program alone: its derivative, its executable. Options, user
        contexts and named axes, which rules may read (see ``dispatch.axes.trace_key``), are part of
        the key. Threads that call at the same time all compute it, and get the result that was done
        first (see ``dovetail_base.once``). When the stack is nearly full ``make`` may be broken off
        and called again.
        """
        full = key, trace_key()
        result = self.cache.get(full, _missing)
        if result is _missing:
            result = self.remember(full, make)
        return result

    def known(self, key: Hashable) -> Any:
        """The result that :meth:`memo` remembers for ``key``, or None."""
        return self.cache.get((key, trace_key()))

    @property
    def in_avals(self) -> list[AbstractValue]:
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> list[AbstractValue]:
        return self.jaxpr.out_avals

    @property
    def eqns(self) -> list[Eqn]:
        return self.jaxpr.eqns

    @property
    def constvars(self) -> list[Var]:
        return self.jaxpr.constvars

    @property
    def invars(self) -> list[Var]:
        return self.jaxpr.invars

    @property
    def outvars(self) -> list[Atom]:
        return self.jaxpr.outvars

    @property
    def literals(self) -> list[Any]:
        """The values of its constants."""
        return self.consts

    @property
    def debug_info(self) -> Any:
        """The function that it was traced from (see ``Jaxpr.debug_info``)."""
        return self.jaxpr.debug_info

    def replace(
        self, jaxpr: Jaxpr | None = None, consts: Sequence[Any] | None = None
    ) -> ClosedJaxpr:
        """A copy with another program, or other values of its constants."""
        given = self.consts if consts is None else consts
        return ClosedJaxpr(self.jaxpr if jaxpr is None else jaxpr, given)

    def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
        """A copy with the program that ``f`` makes of this one."""
        return self.replace(jaxpr=f(self.jaxpr))

    @property
    def effects(self) -> Effects:
        """The program's effects; those on an input name it by its position among the inputs."""
        result = self.jaxpr.effects
        return moved_effects(result, -len(self.consts)) if result and self.consts else result

    @property
    def is_high(self) -> bool:
        return self.jaxpr.is_high

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, ClosedJaxpr)
            and self.jaxpr == other.jaxpr
            and all(map(same_constant, self.consts, other.consts))
        )

    def __hash__(self) -> int:
        return hash(self.jaxpr)


def open_program(program: Jaxpr | ClosedJaxpr) -> Jaxpr:
    """The program without the values of its constants."""
    return program if isinstance(program, Jaxpr) else program.jaxpr


def subprograms(value: Any) -> Iterator[Jaxpr | ClosedJaxpr]:
    """The sub-programs in a parameter or a dictionary of them, in order."""
    result: list[Jaxpr | ClosedJaxpr] = []
    _collect((value,), result)
    return iter(result)


_PLAIN = frozenset({int, bool, float, str, type(None)})


def _collect(values: Iterable[Any], result: list[Jaxpr | ClosedJaxpr]) -> None:
    for value in values:
        if value.__class__ in _PLAIN:
            continue
        if isinstance(value, (Jaxpr, ClosedJaxpr)):
            result.append(value)
        elif isinstance(value, dict):
            _collect(list(cast("dict[Any, Any]", value).values()), result)
        elif isinstance(value, (tuple, list)):
            _collect(cast("Sequence[Any]", value), result)


def contains_high(jaxpr: Jaxpr) -> bool:
    """Return whether a variable's type or a sub-program is high."""
    own = (*jaxpr.constvars, *jaxpr.invars, *(v for e in jaxpr.eqns for v in e.outvars))
    if any(v.aval.is_high for v in own):
        return True
    return any(p.is_high for e in jaxpr.eqns for p in subprograms(e.params))


def walk_programs(program: Jaxpr | ClosedJaxpr) -> Iterator[Jaxpr | ClosedJaxpr]:
    """A program, and those that its equations hold at any depth; each object once."""
    seen: set[int] = set()
    todo = [program]
    while todo:
        result = todo.pop()
        if id(result) not in seen:
            seen.add(id(result))
            yield result
            for e in open_program(result).eqns:
                _collect(e.params.values(), todo)


def same_constant(a: Any, b: Any) -> bool:
    """Return whether two constants are one object, or arrays of equal type and bits."""
    if a is b:
        return True
    if isinstance(a, Tracer) or isinstance(b, Tracer):
        return False
    aval = typeof(a)
    dtype = aval.numpy_dtype()
    return dtype is not None and aval == typeof(b) and _bits(a, dtype) == _bits(b, dtype)


def _bits(x: Any, dtype: Any) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):  # a Python float may overflow its 32-bit type
        y = np.asarray(x, dtype)
    return y.dtype, y.shape, y.tobytes()


def equal_literals(a: Literal, b: Literal) -> bool:
    """Return whether two literals are equal in type and, at that type, in bits."""
    if a.aval != b.aval or a.val is b.val:
        return a.aval == b.aval
    if isinstance(a.val, int) and isinstance(b.val, int):
        return a.val == b.val
    dtype = a.aval.numpy_dtype()
    return dtype is not None and _bits(a.val, dtype) == _bits(b.val, dtype)


_compared: Any = (int, float, complex, np.generic, np.ndarray, tuple, list, dict)


def same_param(a: Any, b: Any, later: list[tuple[Jaxpr, Jaxpr]] | None = None) -> bool:
    """Return whether parameters are equal: as ``==``, but numbers must agree in type and bits.

    So ``nan`` is itself, and ``0.0`` is neither ``-0.0`` nor ``0`` nor ``False``.

    Args:
        later: a list for the programs that are left to compare; by default they are compared here.
    """
    if a is b:
        return True
    if later is not None and isinstance(a, ClosedJaxpr) and isinstance(b, ClosedJaxpr):
        later.append((a.jaxpr, b.jaxpr))
        return len(a.consts) == len(b.consts) and all(map(same_constant, a.consts, b.consts))
    if not isinstance(a, _compared) and not isinstance(b, _compared):
        return bool(a == b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        xs, ys = cast("Sequence[Any]", a), cast("Sequence[Any]", b)
        return len(xs) == len(ys) and all([same_param(x, y, later) for x, y in zip(xs, ys)])  # noqa: C419
    if isinstance(a, dict):
        return _same_params(cast("dict[str, Any]", a), cast("dict[str, Any]", b), later)
    return a == b if isinstance(a, int) else _bits(a, None) == _bits(b, None)


def _same_params(a: dict[str, Any], b: dict[str, Any], later: Any) -> bool:
    return a.keys() == b.keys() and all([same_param(v, b[k], later) for k, v in a.items()])  # noqa: C419


def _same_programs(a: Jaxpr, b: Jaxpr) -> bool:
    """Return whether two programs are equal, with sub-programs; each pair is compared once."""
    todo = [(a, b)]
    seen: set[tuple[int, int]] = set()
    while todo:
        p, q = todo.pop()
        if p is q or (id(p), id(q)) in seen:
            continue
        seen.add((id(p), id(q)))
        if hash(p) != hash(q) or not _same_but_within(p, q, todo):
            return False
    return True


def _same_but_within(a: Jaxpr, b: Jaxpr, later: list[tuple[Jaxpr, Jaxpr]]) -> bool:
    names: dict[Var, Var] = {}

    def same(x: Atom, y: Atom) -> bool:
        if isinstance(x, Literal) or isinstance(y, Literal):
            return isinstance(x, Literal) and isinstance(y, Literal) and equal_literals(x, y)
        return names.get(x) is y

    def define(xs: list[Var], ys: list[Var]) -> bool:
        names.update(zip(xs, ys))
        return len(xs) == len(ys) and all(x.aval == y.aval for x, y in zip(xs, ys))

    if not (define(a.constvars, b.constvars) and define(a.invars, b.invars)):
        return False
    if len(a.eqns) != len(b.eqns) or len(a.outvars) != len(b.outvars):
        return False
    for p, q in zip(a.eqns, b.eqns):
        if p.primitive is not q.primitive or len(p.invars) != len(q.invars):
            return False
        if not (all(map(same, p.invars, q.invars)) and _same_params(p.params, q.params, later)):
            return False
        if p.effects != q.effects or not define(p.outvars, q.outvars):
            return False
    return all(map(same, a.outvars, b.outvars)) and a.mut_types == b.mut_types
