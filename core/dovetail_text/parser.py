"""Programs from their text: ``parse_ir(print_ir(ir)) == ir`` where parameters have a text form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dovetail_base.errors import IRError
from dovetail_core import (
    NO_EFFECTS,
    AbstractValue,
    Atom,
    ClosedJaxpr,
    Effects,
    Eqn,
    Jaxpr,
    Literal,
    Primitive,
    Var,
)

from .scanner import NAME, PRIMITIVE, STRING, VARIABLE
from .value_parser import NUMBER, ValueParser

_binder = re.compile(r"[A-Za-z_]\w*\s*:")
_number = re.compile(r"#\d+")
Env = dict[str, Var]
T = TypeVar("T")


def parse_ir(text: str, constants: Sequence[Any] = ()) -> Jaxpr | ClosedJaxpr:
    """The program that ``text`` (from ``print_ir``) writes.

    Args:
        constants: the values of ``#0``, ``#1``, ... in the text (``printed_constants`` has them).

    Raises:
        IRError: the text is no program; names line, column and what was expected there.
    """
    return _read_all(_Parser(text, constants), _Parser.document)


def parse_type(text: str) -> AbstractValue:
    """The type that ``text`` (from ``AbstractValue.str_short``) writes.

    Raises:
        IRError: the text is no type.
    """
    return _read_all(_Parser(text, ()), _Parser.type)


def _read_all(parser: _Parser, read: Callable[[_Parser], T]) -> T:
    """The result of ``read``, which must read the whole text.

    Raises:
        IRError: for every error: values are made by classes of plugins, too, whose errors do not
            give the line and column of the text.
    """
    scan = parser.scan
    try:
        result = read(parser)
    except IRError:
        raise
    except (RecursionError, MemoryError):
        scan.error("this is nested too deeply")
    except Exception as e:
        scan.error(f"what ends here cannot be: {type(e).__name__}: {e}")
    if parser.here() < len(scan.text):
        scan.fail("the end of the text")
    return result


class _Parser(ValueParser):
    """Reads programs."""

    def document(self) -> Jaxpr | ClosedJaxpr:
        if self.scan.keyword("let"):
            while not self.scan.keyword("in"):
                label = self.scan.take(NAME, "the name of a program, or 'in'")
                self.scan.expect("=")
                self.programs[label] = self.program(label)
        return self.program()

    def program(self, name: str = "") -> Jaxpr | ClosedJaxpr:
        start = self.here()
        self.scan.expect("{")
        self._keyword("lambda")
        flags = self.params() if self.scan.accept("[") else {}
        is_open: bool = flags.pop("open", False)
        env: Env = {}
        values: list[Any] = []
        constvars = self._binders(env, ";", None if is_open else values)
        invars = self._binders(env, ".", None)
        self._keyword("let")
        eqns: list[Eqn] = []
        while not self.scan.keyword("in"):
            eqns.append(self._equation(env))
            self.scan.accept(";")
        self.scan.expect("(")
        outvars = self.scan.separated(")", lambda: self._operand(env))
        self.scan.expect("}")
        try:
            flags = {"is_high": None, **flags}
            jaxpr = Jaxpr(constvars, invars, outvars, eqns, name=name, **flags)
        except TypeError:
            self.scan.error(f"lambda takes open, is_high, mut_types, effects, not {flags}", start)
        return jaxpr if is_open else ClosedJaxpr(jaxpr, values)

    def _keyword(self, word: str) -> None:
        if not self.scan.keyword(word):
            self.scan.fail(repr(word))

    def _binders(self, env: Env, end: str, values: list[Any] | None) -> list[Var]:
        """Variables up to ``end``; with ``values``, constants, whose values are appended to it."""
        result: list[Var] = []
        while not self.scan.accept(end):
            start = self.here()
            name = self.scan.take(VARIABLE, f"a variable or {end!r}")
            result.append(self._typed())
            self._define(env, name, result[-1], start)
            if values is not None:
                if not self.scan.accept("="):
                    self.scan.fail(
                        "'=' and the value of the constant (#0 for one that parse_ir is given, or "
                        "'lambda[open=True]' for a program without values)"
                    )
                values.append(self.constant(result[-1].aval))
            self.scan.accept(",")
        return result

    def _typed(self) -> Var:
        self.scan.expect(":")
        return Var(self.type())

    def _define(self, env: Env, name: str, var: Var, start: int) -> None:
        if env.setdefault(name, var) is not var:
            self.scan.error(f"variable {name!r} is defined a second time", start)
        if name == "_":
            del env[name]

    def _equation(self, env: Env) -> Eqn:
        scan = self.scan
        defined: list[tuple[str, Var, int]] = []
        while _binder.match(scan.text, self.here()):
            start = scan.at
            defined.append((scan.take(VARIABLE, "a variable"), self._typed(), start))
        if defined:
            scan.expect("=")
        primitive = self._primitive(bool(defined))
        has_params = scan.text.startswith("[", scan.at) and scan.accept("[")
        params = self.params() if has_params else {}
        invars: list[Atom] = []
        while not self._equation_ends():
            invars.append(self._operand(env))
        effects = self._effects() if scan.accept("!") else NO_EFFECTS
        for name, var, start in defined:
            self._define(env, name, var, start)
        return Eqn(primitive, invars, [v for _, v, _ in defined], params, effects, None)

    def _equation_ends(self) -> bool:
        if self.scan.line_ends() or self.scan.text[self.scan.at] == "!":
            return True
        result = NAME.match(self.scan.text, self.scan.at)
        return result is not None and result[0] == "in"

    def _effects(self) -> Effects:
        result: list[Any] = []
        while not self._equation_ends():
            result.append(self.value())
        return frozenset(result)

    def _primitive(self, has_results: bool) -> Primitive:
        start = self.here()
        if STRING.match(self.scan.text, start):
            name = self.scan.string()
        else:
            what = "a primitive" if has_results else "a variable, a primitive or 'in'"
            name = self.scan.take(PRIMITIVE, what)
        if self.scan.text.startswith("#", self.scan.at):
            return self._anonymous(name, start)
        return self.find_primitive(name, start)

    def _anonymous(self, name: str, start: int) -> Primitive:
        number = int(self.scan.take(_number, "'#' and a number")[1:])
        result = self.constants[number] if number < len(self.constants) else None
        if not isinstance(result, Primitive) or result.name != name:
            self.scan.error(
                f"constant #{number} is not the primitive {name!r} of a custom rule: pass "
                "printed_constants of the program that was printed",
                start,
            )
        return result

    def _operand(self, env: Env) -> Atom:
        start = self.here()
        number = self.scan.match(NUMBER)
        if number is not None:
            self.scan.expect(":")
            aval = self.type()
            return Literal(self.scalar(number[0], aval, start), aval)
        name = self.scan.take(VARIABLE, "a variable or a literal (2.0:f32[])")
        if name not in env:
            known = f"; defined so far: {', '.join(list(env)[-8:])}" if env else ""
            self.scan.error(f"variable {name!r} is not defined{known}", start)
        return env[name]
