"""The names that a piece of code refers to outside of itself."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from dovetail_base.caches import cached

from .refusal import NotSound

_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"))
_CELLS = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_LOCAL_WRITES = frozenset(("STORE_FAST", "STORE_DEREF", "STORE_NAME"))
_LOCAL_READS = frozenset(
    (
        "LOAD_FAST",
        "LOAD_FAST_BORROW",
        "LOAD_FAST_CHECK",
        "LOAD_DEREF",
        "LOAD_NAME",
    )
)
_WRITES = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_STAR"))


class Reference(NamedTuple):
    """Something that code looks up by name.

    Attributes:
        kind: ``global``, ``cell``, ``import``, or ``imported``: taken of that later on.
        attributes: those that it takes of that at once: ``("random", "normal")`` of
            ``np.random.normal``; of an import, the names.
        level: of a relative import.
    """

    kind: str
    name: str
    attributes: tuple[str, ...] = ()
    level: int = 0


@cached
def references(code: CodeType) -> tuple[Reference, ...]:
    """The names that ``code`` refers to, without the code inside of it.

    Raises:
        NotSound: it changes globals.
    """
    return tuple(dict.fromkeys(_references(code)))


def _references(code: CodeType) -> Iterator[Reference]:
    result = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG")]
    for i, each in enumerate(result):
        name = each.opname
        if name in _WRITES:
            raise NotSound(f"{code.co_qualname} changes a global, {each.argval!r}")
        if name in _GLOBALS:
            yield Reference("global", each.argval, _attributes(result, i + 1))
        elif name in _CELLS and each.argval in code.co_freevars:
            yield Reference("cell", each.argval, _attributes(result, i + 1))
        elif name == "IMPORT_NAME":
            yield Reference("import", each.argval, _imported(result, i + 1), _level(result, i))
            yield from _taken(result, i)


def _attributes(instructions: list[Any], start: int) -> tuple[str, ...]:
    names: list[str] = []
    for each in instructions[start:]:
        if each.opname not in _ATTRIBUTES:
            break
        names.append(each.argval)
    return tuple(names)


def _imported(instructions: list[Any], start: int) -> tuple[str, ...]:
    names: list[str] = []
    for each in instructions[start:]:
        if each.opname == "IMPORT_FROM":
            names.append(each.argval)
        elif not each.opname.startswith("STORE_"):
            break
    return tuple(names)


def _level(instructions: list[Any], i: int) -> int:
    given = instructions[i - 2].argval if i >= 2 else 0
    return given if isinstance(given, int) else 0


def _taken(instructions: list[Any], i: int) -> Iterator[Reference]:
    """The attributes that code takes, by local names, of the modules that the import at ``i`` gives
    these."""
    module, level = instructions[i].argval, _level(instructions, i)
    listed, member = instructions[i - 1].argval, ""
    for each in instructions[i + 1 :]:
        if each.opname == "IMPORT_FROM":
            member = each.argval
        elif each.opname in _LOCAL_WRITES:
            home = module if listed or member else module.partition(".")[0]
            first = (member,) if listed else ()
            for attributes in _of_local(instructions, each.argval):
                yield Reference("imported", home, (*first, *attributes), level)
            if not listed:
                return
        elif each.opname not in ("SWAP", "POP_TOP"):
            return


def _of_local(instructions: list[Any], local: str) -> Iterator[tuple[str, ...]]:
    for i, each in enumerate(instructions):
        is_it = each.opname in _LOCAL_READS and each.argval == local
        if is_it and (attributes := _attributes(instructions, i + 1)):
            yield attributes
