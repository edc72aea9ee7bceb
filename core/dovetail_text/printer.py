"""Programs as readable text, from which the parser makes equal programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from string import ascii_lowercase
from typing import Any

from dovetail_core import Atom, ClosedJaxpr, Eqn, Jaxpr, Primitive, Var, programs

from .syntax import RESERVED, find_dtype, find_kind, is_word
from .value_printer import WIDTH, ValuePrinter, scalar_text

Program = Jaxpr | ClosedJaxpr
_WORDS = {"True", "False", "None", "set", "primitive", "dtype", *RESERVED}
_INLINE = 16


def print_ir(ir: Program, *, inline: int = _INLINE) -> str:
    """The text of a program, in the style of JAX's.

    Constants of at most ``inline`` elements are written by value; larger ones, and those that are
    not known, as ``#0``, ``#1``, ...: ``printed_constants`` gives their values. Primitives of
    custom rules, whose names need not be unique, have a number, too: ``f#2``. A sub-program that
    occurs more than once is written once, in front, and named. Names of programs and source lines
    are not written.
    """
    return _Printer(inline).document(ir)


def printed_constants(ir: Program, *, inline: int = _INLINE) -> list[Any]:
    """The values that ``print_ir`` writes as ``#0``, ``#1``, ..., for ``parse_ir``: constants and
    anonymous primitives."""
    printer = _Printer(inline)
    printer.document(ir)
    return printer.constants


def print_eqn(jaxpr: Jaxpr, eqn: Eqn) -> str:
    """One equation of ``jaxpr`` on one line, sub-programs left out, for messages."""
    printer = _Printer(_INLINE, brief=True)
    printer.define([*jaxpr.constvars, *jaxpr.invars])
    for e in jaxpr.eqns:
        if e is eqn:
            break
        printer.define(e.outvars)
    return printer.equation(eqn, "", set())


class _Printer(ValuePrinter):
    """Names of variables, while one text is being written."""

    def __init__(self, inline: int, brief: bool = False) -> None:
        super().__init__(inline, brief)
        self.letters = _letters()
        self.names: dict[Var, str] = {}

    def document(self, ir: Program) -> str:
        lets: list[str] = []
        for program in _shared_programs(ir):
            text = self.program(program, "  ")
            self.labels[id(program)] = label = self.label(programs.open_program(program).name)
            lets.append(f"  {label} = {text}\n")
        return (f"let\n{''.join(lets)}in\n" if lets else "") + self.program(ir, "")

    def label(self, name: str) -> str:
        """A name for a shared program that no constant, type or parameter kind has."""
        stem = name if name.isidentifier() and name.isascii() else "program"
        taken = {*self.labels.values(), *_WORDS}
        label, i = stem, 0
        while label in taken or find_dtype(label) is not None or find_kind(label) is not None:
            i += 1
            label = f"{stem}_{i}"
        return label

    def define(self, variables: Sequence[Var]) -> None:
        for v in variables:
            if v not in self.names:
                self.names[v] = next(self.letters)

    def program(self, ir: Program, indent: str) -> str:
        jaxpr = programs.open_program(ir)
        outer, self.names = self.names, {}  # programs are closed, and two may share variables
        consts = ir.consts if isinstance(ir, ClosedJaxpr) else None
        parts = [f"{{ lambda{self.flags(jaxpr, consts is None, indent)}"]
        for i, v in enumerate(jaxpr.constvars):
            value = "" if consts is None else f"={self.constant(consts[i], v.aval)}"
            parts.append(f"{self.binder(v)}{value}")
        head = " ".join([*parts, ";", *map(self.binder, jaxpr.invars)]) + ". let"
        unused = _unused(jaxpr)
        eqns = [self.equation(e, f"{indent}    ", unused) for e in jaxpr.eqns]
        outs = ", ".join(map(self.atom, jaxpr.outvars))
        self.names = outer
        tail = f"in ({outs}{',' if len(jaxpr.outvars) == 1 else ''}) }}"
        line = " ".join([head, *(eqns or [""]), tail])
        if len(eqns) < 2 and "\n" not in line and len(line) <= 80:
            return line
        return "\n".join([head, *(f"{indent}    {e}" for e in eqns), f"{indent}  {tail}"])

    def flags(self, jaxpr: Jaxpr, is_open: bool, indent: str) -> str:
        flags: dict[str, Any] = {"open": True} if is_open else {}
        if jaxpr.is_high and not programs.contains_high(jaxpr):
            flags["is_high"] = True
        if jaxpr.mut_types:
            flags["mut_types"] = jaxpr.mut_types
        if jaxpr.effects != jaxpr.replace(effects=None).effects:
            flags["effects"] = jaxpr.effects
        return f"[{' '.join(self.params(flags, indent))}]" if flags else ""

    def binder(self, v: Var) -> str:
        self.define([v])
        return f"{self.names[v]}:{v.aval.str_short()}"

    def equation(self, eqn: Eqn, indent: str, unused: set[Var]) -> str:
        outs = [f"_:{v.aval.str_short()}" if v in unused else self.binder(v) for v in eqn.outvars]
        head = " ".join([*outs, *("=" for _ in outs[:1]), self.name_of(eqn.primitive)])
        params = self.params(eqn.params, f"{indent}  ")
        tail = "".join(f" {self.atom(x)}" for x in eqn.invars)
        if eqn.effects:
            tail += " ! " + " ".join(sorted(self.value(e, indent) for e in eqn.effects))
        if not params:
            return head + tail
        line = f"{head}[{' '.join(params)}]{tail}"
        if self.brief or ("\n" not in line and len(indent + line) <= WIDTH):
            return line
        return "\n".join([f"{head}[", *(f"{indent}  {p}" for p in params), f"{indent}]{tail}"])

    def name_of(self, primitive: Primitive) -> str:
        """A primitive's name; for an anonymous one with the number by which it is parsed."""
        name = primitive.name if is_word(primitive.name, "-") else repr(primitive.name)
        return name if self.brief or not primitive.anonymous else name + self.number(primitive)

    def atom(self, x: Atom) -> str:
        if isinstance(x, Var):
            return self.names.get(x, "?")
        return f"{scalar_text(x.val, x.aval)}:{x.aval.str_short()}"


def _letters() -> Iterator[str]:
    """``a`` to ``z``, ``aa``, ..., without reserved words."""
    length = 1
    while True:
        names = map("".join, product(ascii_lowercase, repeat=length))
        yield from (n for n in names if n not in RESERVED)
        length += 1


def _unused(jaxpr: Jaxpr) -> set[Var]:
    used = {x for e in jaxpr.eqns for x in e.invars} | set(jaxpr.outvars)
    return {v for e in jaxpr.eqns for v in e.outvars if v not in used}


def _shared_programs(ir: Program) -> list[Program]:
    """Sub-programs that occur more than once, inner ones before those that hold them."""
    count: dict[int, int] = {}
    order: list[Program] = []
    stack: list[tuple[Program, bool]] = [(ir, False)]
    while stack:
        program, done = stack.pop()
        if done:
            order.append(program)
            continue
        count[id(program)] = count.get(id(program), 0) + 1
        if count[id(program)] == 1:
            stack.append((program, True))
            inner = [
                p
                for e in programs.open_program(program).eqns
                for p in programs.subprograms(e.params)
            ]
            stack.extend((p, False) for p in reversed(inner))
    return [p for p in order if count[id(p)] > 1]
