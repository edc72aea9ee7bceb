"""Parsing of the parts of equations in the text of a program: types, numbers and parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, cast

import numpy as np

from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Jaxpr,
    Primitive,
    ShapedArray,
    import_primitives,
    manual_axis_types,
    primitives,
    type_shardings,
)

from .numerals import NUMERAL, number_value
from .scanner import NAME, STRING, Scanner
from .syntax import Kind, array_type, find_dtype, find_kind, find_type, numbered

NUMBER = re.compile(NUMERAL)
_DIM = r"(?:\d+(?:@(?:\w+|\([^()]*\)))?)"
_array = re.compile(
    rf"([A-Za-z_][\w<>|.]*)\[((?:{_DIM}(?:, ?{_DIM})*)?)\](~?)(?:\{{((?:V|M?[UR]):[^{{}}]+)\}})?"
)
_dimension = re.compile(_DIM)
_word = re.compile(r"@[\w.]+:[\w.]+|[A-Za-z_]\w*(?:\.\w+)*")
_index = re.compile(r"#(\d+)")
_program = re.compile(r"{\s*lambda\b")
_constants = {"True": True, "False": False, "None": None}


class ValueParser:
    """Reads values; ``programs`` are the shared sub-programs, by label."""

    def __init__(self, text: str, constants: Sequence[Any]) -> None:
        self.scan = Scanner(text)
        self.constants = constants
        self.programs: dict[str, Jaxpr | ClosedJaxpr] = {}
        self.primitives = primitives()

    def program(self) -> Jaxpr | ClosedJaxpr:
        """The program in braces that comes next."""
        raise NotImplementedError

    def here(self) -> int:
        """The index of the next character that is no white space."""
        self.scan.skip()
        return self.scan.at

    # Types and numbers.

    def type(self) -> AbstractValue:
        start = self.here()
        result = self.scan.match(_array)
        if result is not None:
            return self._array_type(result, start)
        name = self.scan.take(NAME, "a type, such as f32[3]")
        make = find_type(name)
        if make is None:
            self.scan.error(
                f"no type is called {name!r}: import the module that defines it, which must call "
                "register_type_notation",
                start,
            )
        return make(self._braces())

    def _array_type(self, result: re.Match[str], start: int) -> AbstractValue:
        dims = _dimension.findall(result[2])
        sizes = ",".join(d.partition("@")[0] for d in dims)
        aval = array_type(result[1], sizes, bool(result[3]))
        if aval is None:
            return self.scan.fail("an element type", start)
        roles = dict(r.split(":", 1) for r in (result[4] or "").split(", ") if r)
        manual = [_names(roles.pop(kind, "")) for kind in ("V", "MU", "MR")]
        if any(manual):
            aval = aval.update(vma=manual_axis_types.vma_of(*manual))
        if not roles and "@" not in result[2]:
            return aval
        try:
            return aval.update(sharding=type_shardings.sharding_provider().parse(dims, roles))
        except ValueError as e:
            self.scan.error(f"the type {result[0]}: {e}", start)

    def _braces(self) -> str:
        """The text between braces, if they come next."""
        text, start = self.scan.text, self.scan.at
        if not text.startswith("{", start):
            return ""
        depth = 0
        for at in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                self.scan.at = at + 1
                return text[start + 1 : at]
        return self.scan.error("this brace is never closed")

    def scalar(self, text: str, aval: AbstractValue, start: int) -> Any:
        """The value of a literal: a Python scalar where the type is weak or boolean."""
        dtype: Any = aval.numpy_dtype()
        if dtype == np.bool_ or (isinstance(aval, ShapedArray) and aval.weak_type):
            dtype = None
        try:
            return number_value(text, dtype)
        except (ValueError, OverflowError) as e:
            self.scan.error(f"{text} is not a value of type {aval.str_short()}: {e}", start)

    def constant(self, aval: AbstractValue) -> Any:
        start = self.here()
        result = self.scan.match(_index)
        if result is not None:
            if int(result[1]) < len(self.constants):
                value = self.constants[int(result[1])]
                shape = getattr(value, "shape", None)
                if isinstance(aval, ShapedArray) and shape not in (None, aval.shape):
                    self.scan.error(f"{result[0]} has shape {shape}, not that of {aval!r}", start)
                return value
            self.scan.error(
                f"{result[0]} is not given: parse_ir got {len(self.constants)} constants", start
            )
        if not isinstance(aval, ShapedArray) or not aval.shape:
            return self.scalar(self.scan.take(NUMBER, "a number or #0"), aval, start)
        items = self._numbers(aval.strong())
        if len(items) != aval.size:
            self.scan.error(f"{len(items)} numbers for a constant of type {aval!r}", start)
        return np.array(items, aval.dtype).reshape(aval.shape)

    def _numbers(self, aval: AbstractValue) -> list[Any]:
        """The numbers in nested brackets, one after the other."""
        if self.scan.accept("["):
            rows = self.scan.separated("]", lambda: self._numbers(aval))
            return [x for row in rows for x in row]
        start = self.here()
        return [self.scalar(self.scan.take(NUMBER, "a number or '['"), aval, start)]

    # Parameters.

    def params(self) -> dict[str, Any]:
        """Parameters up to the closing bracket."""
        params: dict[str, Any] = {}
        while not self.scan.accept("]"):
            name = self.scan.take(NAME, "a parameter or ']'")
            self.scan.expect("=")
            params[name] = self.value()
        return params

    def value(self) -> Any:
        """The value of a parameter."""
        scan, start = self.scan, self.here()
        number = scan.match(NUMBER)
        if number is not None:
            return self._number(number[0], start)
        if STRING.match(scan.text, start):
            text = scan.string()
            return self._numbered(text, start) if scan.text.startswith("#", scan.at) else text
        if _program.match(scan.text, start):
            return self.program()
        if scan.accept("{"):
            return dict(scan.separated("}", self._pair))
        if scan.accept("("):
            return tuple(scan.separated(")", self.value))
        if scan.accept("["):
            return scan.separated("]", self.value)
        if scan.looking_at("<"):
            scan.error(
                "a parameter of this kind has no text form: the plugin that it belongs to must "
                "call register_parameter(class, to_text, from_text)"
            )
        return self._named(scan.take(_word, "a value"), start)

    def _number(self, text: str, start: int) -> Any:
        # 3.0:f32 is a NumPy scalar; after the key of a dictionary, 3: 4, a space follows.
        if not re.compile(r":\w").match(self.scan.text, self.scan.at):
            return number_value(text)
        self.scan.expect(":")
        name = self.scan.take(NAME, "an element type")
        return number_value(text, find_dtype(name) or self.scan.fail("an element type", start))

    def _pair(self) -> tuple[Any, Any]:
        key = self.value()
        self.scan.expect(":")
        return key, self.value()

    def _named(self, name: str, start: int) -> Any:
        """The value of a word: a constant, a shared program, a type, or a registered kind's."""
        scan = self.scan
        follows = scan.text[scan.at : scan.at + 1]
        if follows and follows in "'\"":
            return self._quoted(name, start)
        if follows == "#":
            return self._numbered(name, start)
        if name in _constants:
            return _constants[name]
        if name in self.programs:
            return self.programs[name]
        if follows == "(":
            scan.expect("(")
            if name == "set":
                return frozenset(scan.separated(")", self.value))
            return self._record(self._kind(name, start), start)
        if _array.match(scan.text, start) or find_type(name) is not None:
            scan.at = start
            return self.type()
        dtype = find_dtype(name)
        return self._member(name, start) if dtype is None else dtype

    def _numbered(self, name: str, start: int) -> Any:
        """A parameter that has no text of its own, by its name and number."""
        number = int(self.scan.take(_index, "'#' and a number")[1:])
        result: Any = self.constants[number] if number < len(self.constants) else None
        if result.__class__ not in numbered or result.name != name:
            self.scan.error(
                f"constant #{number} is not the parameter {name!r} of a custom rule: pass "
                "printed_constants of the program that was printed",
                start,
            )
        return result

    def _quoted(self, name: str, start: int) -> Any:
        text = self.scan.string()
        if name == "primitive":
            return self.find_primitive(text, start)
        if name == "dtype":
            return find_dtype(text) or self.scan.error(f"no element type is called {text!r}", start)
        kind = self._kind(name, start)
        if kind.from_text is None:
            self.scan.error(f"parameters of kind {name!r} have no text of their own", start)
        return kind.from_text(text)

    def _record(self, kind: Kind, start: int) -> Any:
        positional: list[Any] = []
        named: dict[str, Any] = {}

        def field() -> None:
            label = self.scan.match(re.compile(r"([A-Za-z_]\w*)\s*=(?!=)"))
            if label is not None:
                named[label[1]] = self.value()
            else:
                positional.append(self.value())

        self.scan.separated(")", field)
        try:
            return cast(Any, kind.cls)(*positional, **named)
        except (TypeError, ValueError) as e:
            self.scan.error(f"{kind.name} does not take these fields: {e}", start)

    def _member(self, name: str, start: int) -> Any:
        head, _, member = name.rpartition(".")
        kind = self._kind(head or name, start)
        if issubclass(kind.cls, Enum) and member in kind.cls.__members__:
            return kind.cls[member]
        self.scan.error(f"{kind.name} has no member {member!r}", start)

    def _kind(self, name: str, start: int) -> Kind:
        kind = find_kind(name)
        if kind is None:
            self.scan.error(
                f"nothing is called {name!r}: import the module that defines it, which may have "
                "to call register_parameter",
                start,
            )
        return kind

    def find_primitive(self, name: str, start: int) -> Primitive:
        """The primitive of that name, perhaps of a plugin whose primitives are not imported yet."""
        if name not in self.primitives:
            import_primitives()
            self.primitives = primitives()
        if name not in self.primitives:
            self.scan.error(
                f"no primitive is called {name!r}: import the module that defines it first", start
            )
        return self.primitives[name]


def _names(text: str) -> list[str]:
    return [n.strip() for n in text.strip("()").split(",") if n.strip()]
