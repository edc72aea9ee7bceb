"""A record as a high type: named fields, each an array or a high value, in one value.

A record is one value in a program, where a dictionary is as many as it has entries; a mapped axis
may be another one in each field, or be missing there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dovetail
import dovetail.numpy as dnp
from dovetail import hijax
from dovetail.hijax import HiPrimitive, HiType, Zero, aval_method, register_hitype
from dovetail_core import low_types, lower_values, raise_values


@dataclass(frozen=True)
class RecordType(HiType):
    """The type of a record: its fields' names and types, in order."""

    fields: tuple[tuple[str, Any], ...]

    def lo_ty(self) -> list[Any]:
        return low_types([t for _, t in self.fields])

    def lower_val(self, value: Record) -> list[Any]:
        return lower_values([value.fields[n] for n, _ in self.fields], "a field of a record")

    def raise_val(self, *arrays: Any) -> Record:
        values = raise_values(arrays, [t for _, t in self.fields])
        return Record(dict(zip([n for n, _ in self.fields], values)))

    def tangent_type(self) -> RecordType:
        return RecordType(tuple((n, t.tangent_type()) for n, t in self.fields))

    def mapped(self, size: int, spec: Any) -> RecordType:
        return self._each(spec, lambda t, d: t.update(shape=t.shape[:d] + t.shape[d + 1 :]))

    def unmapped(self, size: int, spec: Any) -> RecordType:
        return self._each(spec, lambda t, d: t.update(shape=(*t.shape[:d], size, *t.shape[d:])))

    def lo_axes(self, spec: Any) -> list[int | None]:
        """A spec is an integer, or a dictionary with an integer or None for each field."""
        return [spec[n] if isinstance(spec, dict) else spec for n, _ in self.fields]

    def _each(self, spec: Any, change: Any) -> RecordType:
        axes = self.lo_axes(spec)
        fields = zip(self.fields, axes)
        return RecordType(tuple((n, t if d is None else change(t, d)) for (n, t), d in fields))

    _getitem = aval_method(lambda record, name: field_p.bind(record, name=name))

    def str_short(self) -> str:
        return "{" + " ".join(f"{n}:{t.str_short()}" for n, t in self.fields) + "}"


@dataclass(frozen=True, eq=False)
class Record:
    """A record outside of traced programs."""

    fields: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return field_p.bind(self, name=name)


register_hitype(
    Record,
    lambda r: RecordType(tuple((n, dovetail.typeof(x).strong()) for n, x in r.fields.items())),
)


class Make(HiPrimitive):
    """``make(*fields)``: a record of them."""

    def abstract_eval(self, *avals: Any, names: tuple[str, ...]) -> RecordType:
        return RecordType(tuple((n, a.strong()) for n, a in zip(names, avals)))

    def to_lo(self, *fields: Any, names: tuple[str, ...]) -> Record:
        return Record(dict(zip(names, fields)))

    def jvp(self, primals: Any, tangents: Any, *, names: tuple[str, ...]) -> Any:
        ts = map(hijax.instantiate_zeros, tangents)
        return self.bind(*primals, names=names), self.bind(*ts, names=names)

    def transpose(self, cotangent: Any, *fields: Any, names: tuple[str, ...]) -> Any:
        return [cotangent[n] for n in names]

    def batch(self, axis: Any, args: Any, dims: Any, *, names: tuple[str, ...]) -> Any:
        return self.bind(*args, names=names), dict(zip(names, dims))


class Field(HiPrimitive):
    """``record[name]``: one field."""

    def abstract_eval(self, record: RecordType, *, name: str) -> Any:
        fields = dict(record.fields)
        if name not in fields:
            raise KeyError(f"a record {record.str_short()} has no field {name!r}")
        return fields[name]

    def to_lo(self, record: Record, *, name: str) -> Any:
        return record.fields[name]

    def jvp(self, primals: Any, tangents: Any, *, name: str) -> Any:
        return self.bind(*primals, name=name), self.bind(*tangents, name=name)

    def transpose(self, cotangent: Any, record: Any, *, name: str) -> Any:
        fields = record.aval.cotangent_type().fields
        values = [cotangent if n == name else Zero(t).instantiate() for n, t in fields]
        return [make_p.bind(*values, names=tuple(n for n, _ in fields))]

    def batch(self, axis: Any, args: Any, dims: Any, *, name: str) -> Any:
        return self.bind(*args, name=name), dims[0][name] if isinstance(dims[0], dict) else dims[0]


make_p, field_p = Make("records.make"), Field("records.field")


def record(**fields: Any) -> Any:
    """A record of arrays and high values."""
    return make_p.bind(*fields.values(), names=tuple(fields))


def main() -> None:
    """A pendulum: its state is a record, which a scan carries and whose gradient is a record."""

    def step(state: Any, _: None) -> Any:
        speed = state["speed"] - 0.01 * dnp.sin(state["angle"])
        return record(angle=state["angle"] + 0.01 * speed, speed=speed), state["angle"]

    def last(state: Any) -> Any:
        return dovetail.lax.scan(step, state, None, length=100)[0]["angle"]

    state = record(angle=1.0, speed=0.0)
    gradient = dovetail.jit(dovetail.grad(last))(state)
    print(f"at {last(state):.4f}, which changes by {gradient['angle']:.4f} with the first angle")
    many = record(angle=dnp.linspace(0, 1, 3), speed=0.5)
    print(dovetail.vmap(last, in_axes=({"angle": 0, "speed": None},))(many).round(4))


if __name__ == "__main__":
    main()
