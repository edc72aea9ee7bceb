"""An array with a physical unit as a high type: units are checked while a function is traced.

The compiled program is the one without units. A gradient's unit is one over that of its argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dovetail
from dovetail.hijax import HiPrimitive, HiType, register_hitype
from dovetail_core import current_source, describe_source, hide_frames

hide_frames(__name__)  # a mistake is in the line that uses this module

Unit = tuple[tuple[str, int], ...]  # metres per second are (("m", 1), ("s", -1))


def times(a: Unit, b: Unit, power: int = 1) -> Unit:
    """The product of a unit and a power of another."""
    powers = {n: dict(a).get(n, 0) + power * dict(b).get(n, 0) for n, _ in a + b}
    return tuple(sorted((name, n) for name, n in powers.items() if n))


def spell(unit: Unit) -> str:
    """A unit in words: ``m s^-1``."""
    return " ".join(n if p == 1 else f"{n}^{p}" for n, p in unit) or "1"


class Operators:
    """Those of traced quantities (``_add``) and of others (``__add__``)."""

    _add = __add__ = lambda x, y: summed("add", x, y)
    _sub = __sub__ = lambda x, y: summed("sub", x, y)
    _mul = _rmul = __mul__ = __rmul__ = lambda x, y: product(x, y)


@dataclass(frozen=True)
class QuantityType(Operators, HiType):
    """The type of an array of numbers with one unit; ``aval`` is that of the numbers."""

    aval: Any
    unit: Unit

    def lo_ty(self) -> list[Any]:
        return [self.aval]

    def lower_val(self, value: Quantity) -> list[Any]:
        return [value.numbers]

    def raise_val(self, *arrays: Any) -> Quantity:
        return Quantity(arrays[0], self.unit)

    def tangent_type(self) -> QuantityType:
        return QuantityType(self.aval.tangent_type(), self.unit)

    def cotangent_type(self) -> QuantityType:
        return QuantityType(self.aval.cotangent_type(), times((), self.unit, -1))

    def str_short(self) -> str:
        return f"{self.aval.str_short()} in {spell(self.unit)}"


@dataclass(frozen=True, eq=False)
class Quantity(Operators):
    """Numbers with a unit."""

    numbers: Any
    unit: Unit


register_hitype(Quantity, lambda q: QuantityType(dovetail.typeof(q.numbers).strong(), q.unit))


class Attach(HiPrimitive):
    """``attach(numbers)``: a quantity in a unit. It is linear; its transpose takes the unit off."""

    def abstract_eval(self, x: Any, *, unit: Unit) -> QuantityType:
        return QuantityType(x.strong(), unit)

    def to_lo(self, x: Any, *, unit: Unit) -> Quantity:
        return Quantity(x, unit)

    def jvp(self, primals: Any, tangents: Any, *, unit: Unit) -> Any:
        return self.bind(*primals, unit=unit), self.bind(*tangents, unit=unit)

    def transpose(self, cotangent: Any, x: Any, *, unit: Unit) -> Any:
        return [numbers_p.bind(cotangent)]


class Numbers(HiPrimitive):
    """``numbers(quantity)``: what remains without the unit."""

    def abstract_eval(self, x: QuantityType) -> Any:
        return x.aval

    def to_lo(self, x: Quantity) -> Any:
        return x.numbers

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self.bind(*primals), self.bind(*tangents)

    def transpose(self, cotangent: Any, x: Any) -> Any:
        return [attach_p.bind(cotangent, unit=x.aval.cotangent_type().unit)]


attach_p, numbers_p = Attach("units.attach"), Numbers("units.numbers")


def quantity(numbers: Any, **unit: int) -> Any:
    """Numbers in a unit: ``quantity(x, m=1, s=-1)``."""
    return attach_p.bind(numbers, unit=tuple(sorted(unit.items())))


def split(x: Any) -> tuple[Any, Unit]:
    """Numbers and unit of a quantity; plain numbers have the unit 1."""
    aval: Any = dovetail.typeof(x)
    return (numbers_p.bind(x), aval.unit) if isinstance(aval, QuantityType) else (x, ())


def summed(name: str, x: Any, y: Any) -> Any:
    """Sum or difference of two quantities in one unit."""
    (a, unit), (b, other) = split(x), split(y)
    if unit != other:
        found = f"{spell(unit)} and {spell(other)}{describe_source(current_source())}"
        raise TypeError(f"{name} takes quantities in one unit, got {found}.")
    return attach_p.bind(a - b if name == "sub" else a + b, unit=unit)


def product(x: Any, y: Any) -> Any:
    """Product of quantities and numbers."""
    (a, unit), (b, other) = split(x), split(y)
    return attach_p.bind(a * b, unit=times(unit, other))


def main() -> None:
    """The energy of a moving stone, and how it changes with its speed."""

    def energy(mass: Any, speed: Any) -> Any:
        return 0.5 * mass * speed * speed

    mass, speed = quantity(2.0, kg=1), quantity(3.0, m=1, s=-1)
    print(dovetail.jit(energy)(mass, speed))
    print(dovetail.grad(lambda v: split(energy(mass, v))[0])(speed))


if __name__ == "__main__":
    main()
