"""Mutable types whose contents are described by a *state* apart from the type.

A state (JAX calls it quasi-dynamic data) is a hashable description of contents, which an operation
may change. In a program the type of a mutable value includes its state, so that contents can
replace the value when the program is compiled. The effect of operations on contents follows from
their ``to_lo``, which acts on a value of the user's class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from dovetail_core import (
    AbstractValue,
    Effect,
    Primitive,
    ReadEffect,
    RetypeEffect,
    Trace,
    Tracer,
    WriteEffect,
    cached,
    get_trace,
    high_algebra,
    mutable_values,
    register_type,
    run_under,
    staging,
    typeof,
)


class AvalQDD:
    """A mutable type and its state, which ``abstract_eval`` returns for a new mutable value."""

    __slots__ = ("aval", "qdd")
    is_high = True
    has_qdd = True

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval, self.qdd = aval, qdd

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AvalQDD) and (self.aval, self.qdd) == (other.aval, other.qdd)

    def __hash__(self) -> int:
        return hash((self.aval, self.qdd))

    def __repr__(self) -> str:
        return f"AvalQDD(aval={self.aval!r}, qdd={self.qdd!r})"


class MutableState:
    """The state of an operand while the types of its operation are inferred."""

    __slots__ = ("init_val", "cur_val", "updated")

    def __init__(self, state: Any) -> None:
        self.init_val = self.cur_val = state
        self.updated = False

    def update(self, state: Any) -> None:
        """Set the state after the operation."""
        self.cur_val, self.updated = state, True


class AvalMutableQDD:
    """A mutable operand's type, and its state, which ``abstract_eval`` may update."""

    __slots__ = ("aval", "mutable_qdd")

    def __init__(self, aval: Any, mutable_qdd: MutableState) -> None:
        self.aval, self.mutable_qdd = aval, mutable_qdd


class Stated(AbstractValue):
    """A mutable type with its state. Its class is one of the author's, too (see ``with_state``)."""

    __slots__ = ()
    is_high = False  # it is discharged before high types are lowered
    is_mutable = True
    has_mutable_type = True
    owns_contents = False
    plain: Any
    state: Any

    def content_types(self) -> tuple[AbstractValue, ...]:
        return tuple(self.plain.lo_ty_qdd(self.state))

    def take(self, value: Any) -> Sequence[Any]:
        return list(self.plain.read_loval(self.state, value))

    def put(self, value: Any, contents: Sequence[Any]) -> None:
        self.plain.update_from_loval(self.state, value, *contents)

    read = take
    write = put

    def tangent_type(self) -> Any:
        return with_state(self.plain.to_tangent_aval(), self.state.to_tangent_qdd())

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Stated) and self.plain == other.plain
        return same and self.state == other.state  # type: ignore[union-attr]

    def __hash__(self) -> int:
        return hash((self.plain, self.state))

    def __reduce__(self) -> tuple[Any, ...]:
        return with_state, (self.plain, self.state)


@cached(permanent="there is one class of each")
def _class_of(cls: type) -> type:
    """The class of the types of ``cls`` with their states."""
    made = {"__slots__": ("plain", "state"), "__hash__": Stated.__hash__, "__module__": __name__}
    return type(cls.__name__, (Stated, cls), made)


def with_state(aval: Any, state: Any) -> Any:
    """The type ``aval`` with ``state``: an instance of the same class."""
    made = object.__new__(_class_of(type(aval)))
    fields = {"plain": aval, "state": state, **dict(_fields(aval))}
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def _fields(x: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of the instance, in ``__dict__`` and slots."""
    yield from getattr(x, "__dict__", {}).items()
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            slot = cls.__dict__[f"_{cls.__name__.lstrip('_')}{name}" if _private(name) else name]
            with suppress(AttributeError):  # not set
                yield slot.__name__, slot.__get__(x)


def _private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def has_state(aval: Any) -> bool:
    """True if values of a type have a state, as declared by its class."""
    return bool(getattr(aval, "has_qdd", False))


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], AbstractValue]) -> None:
    """Register instances of ``val_cls`` as values, of the high type ``typeof_fn(x)``.

    For mutable types with states, ``x.cur_qdd()`` is the state.
    """

    def handler(x: Any) -> AbstractValue:
        aval = typeof_fn(x)
        return with_state(aval, x.cur_qdd()) if has_state(aval) else aval

    register_type(val_cls, handler)


def cur_qdd(x: Any) -> Any:
    """The state of a mutable value, traced or concrete, at this point of the program.

    Raises:
        TypeError: the value's type has no states.
    """
    aval = staging.current_type(x)
    if not isinstance(aval, Stated):
        raise TypeError(f"cur_qdd takes a value whose type has a state, got {aval.str_short()}.")
    return aval.state


def infer_with_states(
    rule: Callable[..., Any], avals: Sequence[Any], params: dict[str, Any]
) -> tuple[Any, set[Effect]]:
    """An operation's result types and effects, if operands may have states, which it may change."""
    states = {i: MutableState(a.state) for i, a in enumerate(avals) if isinstance(a, Stated)}
    given = [AvalMutableQDD(a.plain, states[i]) if i in states else a for i, a in enumerate(avals)]
    result = rule(*given, **params)
    effects: set[Effect] = set()
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], (set, frozenset)):
        result, declared = result
        effects.update(declared)
    many = isinstance(result, (list, tuple))
    outs = [with_state(a.aval, a.qdd) if isinstance(a, AvalQDD) else a for a in _all(result, many)]
    if any(a.is_mutable for a in (*avals, *outs)):
        effects = _effects_by_operand(avals, states, bool(effects))
    return (outs if many else outs[0]), effects


def _all(result: Any, many: bool) -> Sequence[Any]:
    return result if many else [result]


def _effects_by_operand(
    avals: Sequence[Any], states: dict[int, MutableState], acts: bool
) -> set[Effect]:
    """Effects by operand, which are more precise than those of the author's rule."""
    # The effect on a reference is not known: it may be written.
    effects: set[Effect] = {
        WriteEffect(i) for i, a in enumerate(avals) if a.is_mutable and i not in states
    }
    for i, state in states.items():
        effects.add(WriteEffect(i) if acts or state.updated else ReadEffect(i))
        if state.updated:
            effects.add(RetypeEffect(i, with_state(avals[i].plain, state.cur_val)))
    return effects


class StateTrace(Trace):
    """Runs operations on values of the users' classes by their ``to_lo``; passes others on."""

    __slots__ = ()
    parent: Trace
    what = "an operation on a mutable value"

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        to_lo = (primitive.rules or {}).get("to_lo")
        if to_lo is not None and any(map(_is_mutable_value, args)):
            return to_lo(*args, **params)
        return self.parent.process(primitive, args, params)


def _is_mutable_value(x: Any) -> bool:
    return not isinstance(x, Tracer) and isinstance(typeof(x), Stated)


def discharge_with_states(
    to_lo: Callable[..., Any], trace: Trace, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """An operation on local values of ``trace``, by ``to_lo`` on values of the user's class."""
    state_trace = StateTrace(get_trace())
    mutable = {
        i: x
        for i, x in enumerate(args)
        if mutable_values.is_local(trace, x) and isinstance(x.aval, Stated)
    }

    def run() -> Any:
        values: list[Any] = list(args)
        for i, local in mutable.items():
            aval: Any = local.aval
            values[i] = aval.plain.new_from_loval(aval.state, *local.contents)
        result = to_lo(*values, **params)
        for i, local in mutable.items():
            _update(local, values[i])
        return result

    result = run_under(state_trace, run)
    if isinstance(result, (list, tuple)):
        return [_result(trace, state_trace, x) for x in result]
    return _result(trace, state_trace, result)


def _update(local: mutable_values.LocalValue, value: Any) -> None:
    """Set the contents of a local value to those of a value of the user's class."""
    aval: Any = typeof(value)
    local.aval = aval
    local.contents[:] = aval.take(value)


def _result(trace: Trace, state_trace: Trace, x: Any) -> Any:
    """A result of ``to_lo`` in the form of the trace: mutable and high values are converted."""
    if isinstance(x, Tracer):
        return x
    aval: Any = typeof(x)
    if isinstance(aval, Stated):
        return mutable_values.LocalValue(trace, aval, run_under(state_trace, aval.take, x))
    return high_algebra().make(aval, aval.lower_val(x)) if aval.is_high else x
