"""The digest of a value: of all from which code that gets the value can compute.

Values differ by content, functions by code and by what that refers to, classes and their instances
by all their attributes. Objects of libraries are taken by name. Two values with one digest make the
same program; a value that has no such digest is refused.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .libraries import (
    NotSound,
    check_library,
    file_facts,
    global_named,
    is_library,
    kind_of,
    kind_of_file,
)

_SKIPPED = frozenset(
    "__builtins__ __cached__ __doc__ __file__ __loader__ __name__ __package__ __path__ __spec__ "
    "__annotations__ __annotate__".split()
)
"""The attributes that modules have beside what somebody put into them."""

_CHANGEABLE = (
    bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray,
)  # fmt: skip
"""Types of values that are taken by content, whoever's they are."""

KINDS: dict[type, Callable[[Any, Any], None]] = {}
"""Functions that take values of no library in, by class: ``add(digest, x)``. It raises NotSound
for what nobody can tell all of. ``kinds`` fills this."""


class Digest:
    """Takes in values one after the other (see ``kinds.new_digest``).

    Args:
        reads: whether the user said which files are read.
    """

    def __init__(self, reads: bool = False) -> None:
        self.reads = reads
        self.hash = hashlib.blake2b(digest_size=32)
        self.known: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no two of those that are known have one address
        self.path: list[str] = []
        self.files: set[str] = set()

    def tag(self, *parts: Any) -> None:
        """Take in text, numbers and bytes, so that no other parts are taken in like these."""
        for p in parts:
            content = p if isinstance(p, bytes) else str(p).encode("utf-8", "surrogatepass")
            self.hash.update(b"%d:" % len(content))
            self.hash.update(content)
        self.hash.update(b";")

    def add(self, x: Any, where: str = "") -> None:
        """Take in a value; ``where`` says in a refusal what it is.

        Raises:
            NotSound: it has no digest; names the value and where it was found.
        """
        atom = _ATOMS.get(x.__class__)
        if atom is not None:
            atom(self, x)
            return
        with self.at(where):
            self._add(x)

    @contextmanager
    def at(self, where: str) -> Any:
        """Context manager: refusals say that they are about this part of the value."""
        if where:
            self.path.append(where)
        yield
        if where:
            self.path.pop()

    def composite(self, kind: str, parts: Iterable[tuple[str, Any]]) -> None:
        """Take in the parts of a value, with their names."""
        self.tag("begin", kind)
        for name, part in parts:
            self.tag(name)
            self.add(part, name)
        self.tag("end")

    def refuse(self, what: str) -> NotSound:
        """The refusal of a value, with the way to it."""
        return NotSound(f"{' of '.join(reversed(self.path))}: {what}" if self.path else what)

    def library(self, module: str, name: str) -> None:
        """Take in the object of a library under a name."""
        try:
            check_library(module, name, self.reads)
        except NotSound as e:
            raise self.refuse(str(e)) from None
        self.tag("library", f"{module}.{name}" if name else module)
        if module not in self.files:
            self.files.add(module)
            self.tag(*file_facts(module))

    def _add(self, x: Any) -> None:
        number = self.known.get(id(x))
        if number is not None:
            self.tag("again", number)
            return
        self.known[id(x)] = len(self.known)
        self.alive.append(x)
        if self._is_library(x):
            return
        for cls in type(x).__mro__:
            if (result := KINDS.get(cls)) is not None:
                result(self, x)
                return

    def _is_library(self, x: Any) -> bool:
        """Take in an object of a library by its name; False if it is none."""
        if isinstance(x, ModuleType):
            if is_library(x.__name__):
                self.library(x.__name__, "")
                return True
            return False
        module, name = _declared(x, "__module__"), _declared(x, "__qualname__")
        if isinstance(x, BuiltinFunctionType) and isinstance(x.__self__, ModuleType):
            module = module or x.__self__.__name__
        if isinstance(x, np.ufunc):
            module, name = "numpy", x.__name__
        if not isinstance(name, str) or not is_library(module):
            return False
        if global_named(module, name) is not x:
            return False
        if isinstance(x, FunctionType) and not is_written_in_library(x):
            return False
        self.library(module, name)  # type: ignore[arg-type]
        if isinstance(x, type):
            self._put_into(x)
        return True

    def _put_into(self, cls: type) -> None:
        """Take in the methods that somebody put into a library's class."""
        for name, value in list(vars(cls).items()):
            if isinstance(value, FunctionType) and not is_written_in_library(value):
                self.add(value, f"{cls.__qualname__}.{name}")

    def module(self, x: ModuleType, attributes: tuple[str, ...]) -> None:
        """Take in a module of the user's of which code takes attributes; all of it without any."""
        if not attributes:
            parts = [(k, v) for k, v in sorted(vars(x).items()) if k not in _SKIPPED]
            self.composite(f"module {x.__name__}", parts)
            return
        name, *rest = attributes
        self.tag("attribute", x.__name__, name)
        if name not in vars(x):
            if "__getattr__" in vars(x):
                raise self.refuse(f"module {x.__name__} makes {name} when it is asked for it")
            self.tag("absent")
            return
        self.reference(vars(x)[name], tuple(rest), f"{x.__name__}.{name}")

    def reference(self, x: Any, attributes: tuple[str, ...], where: str) -> None:
        """Take in what code refers to by a name, and the attributes that it takes of that."""
        if isinstance(x, ModuleType):
            with self.at(where):
                if not is_library(x.__name__):
                    self.module(x, attributes)
                    return
                owner, name, value = _member_of(x, attributes)
                self.library(owner.__name__, name)
                if value is not None:
                    self.library_value(owner, name, value)
            return
        self.add(x, where)

    def library_value(self, owner: ModuleType, name: str, value: Any) -> None:
        """Take in what a library's module has under a name, unless it is the library's own: a
        number or a container, which may have been changed, or an object that replaces it."""
        if isinstance(value, FunctionType):
            ours = not is_written_in_library(value)
        elif isinstance(value, (type, np.ufunc, BuiltinFunctionType)):
            ours = False
        else:
            ours = not is_library(type(value).__module__)
            ours = ours or (type(value) in _CHANGEABLE and kind_of(owner.__name__) != "own")
        if ours:
            self.add(value, f"{owner.__name__}.{name}")


def _declared(x: Any, name: str) -> Any:
    """An attribute that names the module or the name of an object; None if reading it fails."""
    try:
        return getattr(x, name, None)
    except Exception:
        return None


def is_written_in_library(f: FunctionType) -> bool:
    """Tell whether the code of a function is in the file of a library, or was made by one as
    text."""
    file = f.__code__.co_filename
    return file.startswith("<") or kind_of_file(file) != "user"


def _member_of(module: ModuleType, attributes: tuple[str, ...]) -> tuple[ModuleType, str, Any]:
    """The thing that is reached from a library's module through modules: the last module, the name
    of what it is asked for, and what that is; no name where the module itself is meant. What a
    module makes when it is first asked is not made for this: it is the library's own."""
    owner = module
    for i, name in enumerate(attributes):
        value = vars(owner).get(name)
        if value is None:
            return owner, ".".join(attributes[i:]), None
        if not isinstance(value, ModuleType) or not is_library(value.__name__):
            return owner, name, value
        owner = value
    return owner, "", None


def _number(digest: Digest, x: Any) -> None:
    digest.tag("number", x.__class__.__name__, x)


def _float(digest: Digest, x: Any) -> None:
    digest.tag("float", struct.pack("<dd", x.real, x.imag), x.__class__.__name__)


def _text(digest: Digest, x: Any) -> None:
    digest.tag(x.__class__.__name__, x)


def _bytearray(digest: Digest, x: Any) -> None:
    digest.tag("bytearray", bytes(x))


def _tuple(digest: Digest, x: Any) -> None:
    digest.tag("tuple", len(x))
    for i, part in enumerate(x):
        digest.add(part, f"item {i}")


def _set(digest: Digest, x: Any) -> None:
    digest.tag(x.__class__.__name__, len(x))
    for each in sorted(_alone(digest, part) for part in x):
        digest.tag(each)


def _alone(digest: Digest, x: Any) -> bytes:
    inner = Digest(digest.reads)
    inner.path = [*digest.path, "an element"]
    inner.add(x)
    return inner.hash.digest()


def _range(digest: Digest, x: Any) -> None:
    digest.tag("range", x.start, x.stop, x.step)


def _slice(digest: Digest, x: Any) -> None:
    digest.tag("slice")
    _tuple(digest, (x.start, x.stop, x.step))


def _code(digest: Digest, x: CodeType) -> None:
    """Code as it runs: its file and its line numbers make no difference."""
    digest.tag(
        "code", x.co_code, x.co_exceptiontable, x.co_flags, x.co_argcount, x.co_posonlyargcount,
        x.co_kwonlyargcount, x.co_name, x.co_stacksize, x.co_nlocals,
    )  # fmt: skip
    for part in (x.co_names, x.co_varnames, x.co_freevars, x.co_cellvars, x.co_consts):
        _tuple(digest, part)


_ATOMS: dict[type, Callable[[Digest, Any], None]] = {
    type(None): _number, bool: _number, int: _number, type(...): _number,
    type(NotImplemented): _number, float: _float, complex: _float, str: _text, bytes: _text,
    bytearray: _bytearray, tuple: _tuple, set: _set, frozenset: _set, range: _range, slice: _slice,
    CodeType: _code,
}  # fmt: skip
