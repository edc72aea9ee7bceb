"""Printing of the parts of equations in the text of a program: types, numbers and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

import numpy as np

from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    ExtendedDType,
    Jaxpr,
    Primitive,
    Tracer,
    short_dtype,
)

from .numerals import number_text
from .syntax import Kind, field_names, find_dtype, kind_of, numbered, word

WIDTH = 100
_BUILTIN = {bool, int, float, complex}
_dtypes: Any = (np.dtype, ExtendedDType)
_numpy_scalar: Any = np.generic


class ValuePrinter:
    """Writes values; ``labels`` names shared programs, ``constants`` are those written ``#i``.

    Args:
        inline: the number of elements up to which constants are written by value.
        brief: leave out sub-programs, and never break a line.

    An ``indent`` is that of the line on which the text will begin.
    """

    def __init__(self, inline: int, brief: bool) -> None:
        self.inline = inline
        self.brief = brief
        self.labels: dict[int, str] = {}
        self.constants: list[Any] = []

    def program(self, ir: Jaxpr | ClosedJaxpr, indent: str) -> str:
        """A program in braces."""
        raise NotImplementedError

    def params(self, params: Mapping[str, Any], indent: str) -> list[str]:
        """The texts ``name=value`` of parameters, in their order."""
        return [f"{k}={self.value(v, indent)}" for k, v in params.items()]

    def value(self, x: Any, indent: str) -> str:
        """The value of a parameter."""
        if isinstance(x, (Jaxpr, ClosedJaxpr)):
            return "{...}" if self.brief else self.labels.get(id(x)) or self.program(x, indent)
        if x.__class__ in numbered:
            return word(x.name) if self.brief else word(x.name) + self.number(x)
        kind = kind_of(x)
        if kind is not None:
            return self._of_kind(x, kind, indent)
        inner = f"{indent}  "
        items: Any = x  # its elements may be of any type
        if isinstance(x, tuple):
            return self._bracketed([self.value(v, inner) for v in items], "()", indent)
        if isinstance(x, list):
            return self._bracketed([self.value(v, inner) for v in items], "[]", indent)
        if isinstance(x, frozenset):
            texts = sorted(self.value(v, inner) for v in items)
            return f"set{self._bracketed(texts, '()', indent)}"
        if isinstance(x, dict):
            pairs = [f"{self.value(k, inner)}: {self.value(v, inner)}" for k, v in items.items()]
            return self._bracketed(pairs, "{}", indent)
        return plain_text(x)

    def _of_kind(self, x: Any, kind: Kind, indent: str) -> str:
        if kind.to_text is not None:
            return f"{kind.name}{kind.to_text(x)!r}"
        if isinstance(x, Enum):
            return f"{kind.name}.{x.name}"
        names = field_names(kind.cls)
        values = [self.value(getattr(x, n), f"{indent}  ") for n in names]
        if len(names) > 1:
            values = [f"{n}={v}" for n, v in zip(names, values)]
        return f"{kind.name}({', '.join(values)})"

    def _bracketed(self, items: list[str], brackets: str, indent: str) -> str:
        line = ", ".join(items)
        if len(items) == 1 and brackets == "()":
            line += ","
        short = len(indent + line) < WIDTH - 10 or not any(i.startswith("{") for i in items)
        if self.brief or (short and "\n" not in line):
            return brackets[0] + line + brackets[1]
        lines = "".join(f"{indent}  {i},\n" for i in items)
        return f"{brackets[0]}\n{lines}{indent}{brackets[1]}"

    def number(self, x: Any) -> str:
        """The number, ``#i``, of a value without a text form."""
        for i, other in enumerate(self.constants):
            if other is x:
                return f"#{i}"
        self.constants.append(x)
        return f"#{len(self.constants) - 1}"

    def constant(self, x: Any, aval: AbstractValue) -> str:
        """The text of a constant: its value if that is known and small, else its number."""
        dtype: Any = aval.numpy_dtype()
        if dtype is None or isinstance(x, Tracer) or cast(Any, aval).size > self.inline:
            return self.number(x)
        if not cast(Any, aval).shape:
            return scalar_text(x, aval)
        return _nested(np.asarray(x).astype(dtype))


def plain_text(x: Any) -> str:
    """A value that needs no context: a scalar, a string, a type."""
    if x is None:
        return "None"
    if type(x) in _BUILTIN:
        return number_text(x)
    if type(x) in (str, bytes):
        return repr(x)
    if isinstance(x, AbstractValue):
        return x.str_short()
    if isinstance(x, Primitive):
        return f"primitive{x.name!r}"
    if isinstance(x, _dtypes):
        name: str = short_dtype(x) if short_dtype(x) == "float0" else x.name
        return name if name.isidentifier() else f"dtype{name!r}"
    if isinstance(x, _numpy_scalar) and find_dtype(x.dtype.name):
        return f"{number_text(x)}:{short_dtype(x.dtype)}"
    shown = " ".join(str(x).split()).strip("<>")
    return f"<{shown if len(shown) <= 40 else shown[:37] + '...'}>"


def scalar_text(x: Any, aval: AbstractValue) -> str:
    """A scalar at its type: Python's text where that is weak, as only Python scalars are."""
    dtype: Any = aval.numpy_dtype()
    if dtype is None:
        return plain_text(x)
    if cast(Any, aval).weak_type and type(x) in _BUILTIN:
        return number_text(x)
    with np.errstate(all="ignore"):  # a Python float may overflow a narrow type
        return number_text(np.asarray(x).astype(dtype)[()])


def _nested(x: Any) -> str:
    if x.ndim == 0:
        return number_text(x[()])
    return f"[{', '.join(map(_nested, x))}]" if x.size else "[]"
