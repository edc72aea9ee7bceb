"""Functions in a digest: their code, and all that it refers to."""

from __future__ import annotations

import builtins
import dis
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from dovetail_base.caches import cached

from .digest import Digest, is_written_in_library
from .libraries import (
    NotSound,
    global_named,
    is_library,
    kind_of_file,
)

_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"))
_CELLS = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_LOCAL_WRITES = frozenset(("STORE_FAST", "STORE_DEREF", "STORE_NAME"))
_LOCAL_READS = frozenset(
    ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_NAME")
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


def add_function(digest: Digest, f: FunctionType) -> None:
    """Take in a function: of a library, with what it closes over; else with its globals, too."""
    if "_settings" in f.__dict__ and is_written_in_library(f):
        add_compiled(digest, f)
        return
    home = f.__globals__.get("__name__")
    if _is_of_library(f, home):
        digest.library(str(home), f.__code__.co_qualname)
        digest.tag(f.__code__.co_firstlineno)
        _add_cells(digest, f, {})
    else:
        digest.tag("function")
        digest.add(f.__code__)
        try:
            result = [r for code in _nested(f.__code__) for r in references(code)]
        except NotSound as e:
            raise digest.refuse(str(e)) from None
        taken: dict[str, list[Reference]] = {}
        for r in dict.fromkeys(result):
            if r.kind == "cell":
                taken.setdefault(r.name, []).append(r)
            else:
                _add_reference(digest, f, r)
        _add_cells(digest, f, taken)
    digest.add(f.__defaults__, f"a default of {f.__name__}")
    digest.composite("keyword defaults", sorted((f.__kwdefaults__ or {}).items()))
    own = {k: v for k, v in f.__dict__.items() if k not in ("__annotations__", "__doc__")}
    digest.composite("attributes", own.items())
    hints = getattr(f, "__annotations__", None) or {}
    digest.tag("annotations", sorted((k, str(v)) for k, v in hints.items()))


def add_compiled(digest: Digest, f: Any) -> None:
    """Take in what ``jit`` made: the function, and what it was asked for."""
    settings = getattr(f, "_settings", None)
    if settings is None or settings.shardings is not None:
        raise digest.refuse(f"the compiled function {f!r}, with shardings, or of an unknown kind")
    digest.composite("jit", [("function", settings.fun), ("settings", settings.key)])


def _is_of_library(f: FunctionType, home: Any) -> bool:
    """Tell whether a function was written in a library: so are its globals."""
    module = sys.modules.get(home) if isinstance(home, str) else None
    if module is None or f.__globals__ is not vars(module) or not is_library(home):
        return False
    return is_written_in_library(f)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)


def _add_cells(digest: Digest, f: FunctionType, taken: dict[str, list[Reference]]) -> None:
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        where = f"{name!r}, which {f.__name__} closes over"
        digest.tag("cell", name)
        try:
            content = cell.cell_contents
        except ValueError:
            digest.tag("empty")
            continue
        uses = taken.get(name, ())
        if isinstance(content, ModuleType) and uses and all(r.attributes for r in uses):
            for r in uses:
                digest.reference(content, r.attributes, where)
        else:
            digest.reference(content, (), where)


def _add_reference(digest: Digest, f: FunctionType, r: Reference) -> None:
    if r.kind in ("import", "imported"):
        _add_import(digest, f, r)
        return
    where = f"the global {r.name!r} of {f.__name__}"
    digest.tag("global", r.name, *r.attributes)
    if r.name in f.__globals__:
        digest.reference(f.__globals__[r.name], r.attributes, where)
        return
    inner = f.__globals__.get("__builtins__", builtins)
    names = vars(inner) if isinstance(inner, ModuleType) else inner
    if r.name in names:
        digest.add(names[r.name], f"the builtin {r.name!r} of {f.__name__}")
    else:
        digest.tag("absent")


def _add_import(digest: Digest, f: FunctionType, r: Reference) -> None:
    name = r.name
    if r.level:
        package = f.__globals__.get("__package__") or ""
        name = importlib.util.resolve_name("." * r.level + r.name, package)
    digest.tag("import", name, *r.attributes)
    with digest.at(f"what {f.__name__} imports"):
        module = sys.modules.get(name)
        if r.kind == "imported":
            if module is not None:
                digest.reference(module, r.attributes, name)
        elif module is None:
            _add_unloaded(digest, name)
        elif is_library(name):
            if not r.attributes:
                digest.library(name, "")
            for each in r.attributes:
                digest.reference(module, (each,), f"{name}.{each}")
        elif not r.attributes:
            digest.add(module, name)
        else:
            for each in r.attributes:
                inner = global_named(f"{name}.{each}", "__name__") and sys.modules[f"{name}.{each}"]
                digest.reference(inner or module, () if inner else (each,), f"{name}.{each}")


def _add_unloaded(digest: Digest, name: str) -> None:
    """A module that is imported while the function is traced: known only if it is a library's."""
    spec = None
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or kind_of_file(spec.origin) == "user":
        raise digest.refuse(
            f"the module {name}, which is not imported before the function is traced (import it at "
            "the top)"
        )
    digest.library(name, "")
