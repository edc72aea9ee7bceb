"""Modules whose names load on first use, so that reading a plugin's manifest imports nothing else.

Such a module lists its names once, as the imports that type checkers and editors read::

    if TYPE_CHECKING:
        from dovetail_base.gradient import grad as grad
    else:
        from dovetail_core import lazy_exports

        __getattr__, __dir__ = lazy_exports(__name__)

At run time the same lines give the module that each name comes from: the module's code is run once
more, with an ``__import__`` that records names and imports nothing.

Packages that have the name of a function can be called like it (:func:`callable_package`).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import resolve_name
from inspect import signature
from opcode import opmap
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from .caches import cached


class Export(NamedTuple):
    """The origin of a name: a module, and the name in that module."""

    module: str
    name: str


class _Unlisted:
    """A stand-in for objects that are no public names: ``TYPE_CHECKING``, modules (of pytest)."""

    def __getattr__(self, name: str) -> _Unlisted:
        return self


def listing(code: CodeType, package: str) -> dict[str, Export]:
    """The names that a module lists, sorted, with their origins.

    Args:
        code: of the module, which imports under ``TYPE_CHECKING`` and does nothing else.
        package: what its relative imports refer to.
    """

    def note(name: str, _g: Any, _l: Any, names: Sequence[str] | None, level: int) -> Any:
        if names is None or name in ("typing", "__future__"):
            return _Unlisted()
        module = resolve_name("." * level + name, package)
        taken = import_module(module).__all__ if names == ("*",) else names
        return SimpleNamespace(**{n: Export(module, n) for n in taken})

    result: dict[str, Any] = {"__builtins__": {"__import__": note}, "__name__": package}
    exec(code, result)
    return {n: e for n, e in sorted(result.items()) if isinstance(e, Export)}


def lazy_exports(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) of the calling module, which only lists names.

    A name is imported when it is first used, and is an attribute of the module from then on. All
    that is listed is the module's ``__all__``, unless it has one of its own.

    Args:
        module: the calling module, or a package that takes these two from it.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    code, package = frame.f_code, frame.f_globals["__package__"]
    is_all = frame.f_globals["__name__"] == module
    exports = cached(permanent="a module's code lists the same names")(
        lambda: listing(code, package)
    )

    def get(name: str) -> Any:
        if name == "__all__" and is_all:
            return list(exports())
        if _is_private(name) or name not in exports():
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = _load(exports()[name], module)
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: sorted({*contents(sys.modules[module]), *exports()})


_DICTIONARY: Any = vars(ModuleType)["__dict__"]


def contents(module: ModuleType) -> dict[str, Any]:
    """The dictionary of a module as it is; ``vars`` may first import all that the module lists."""
    return _DICTIONARY.__get__(module)


def _is_private(name: str) -> bool:
    """Return whether a name is one of Python's own: ``__name__``, but none of the array API's."""
    return name.startswith("__") and not name.startswith("__array_")


def _load(export: Export, module: str) -> Any:
    """An attribute or a sub-module, as ``from`` imports it.

    An attribute of ``module`` itself is not asked for, since that would call this function again.
    """
    if export.module != module:
        result = import_part(export.module)
        if hasattr(result, export.name):
            return getattr(result, export.name)
    return import_part(f"{export.module}.{export.name}")


def absent_name(text: str, module: str, name: str, asking: FrameType) -> Exception:
    """The error for a name that a module lacks.

    It is an ImportError in ``from module import name``, where Python would drop the text of an
    AttributeError.

    Args:
        asking: the frame that the module's ``__getattr__`` was called from; another ``__getattr__``
            that only passes the question on does not count.
    """
    while asking.f_code.co_name == "__getattr__" and asking.f_back is not None:
        asking = asking.f_back
    if asking.f_code.co_code[asking.f_lasti] == opmap["IMPORT_FROM"]:
        return ImportError(text, name=module)
    return AttributeError(text, name=name, obj=sys.modules[module])


def import_part(name: str) -> ModuleType:
    """Import a module, its packages first.

    Python locks the module first: a thread that holds that lock waits for another one that imports
    the package, which may import the module and wait for this thread.

    Garbage collection is off during the import: the objects of modules are not garbage, and to
    traverse all of them would take as long as the import.
    """
    collects = gc.isenabled()
    try:
        if collects:
            gc.disable()
        for i, letter in enumerate(name):
            if letter == ".":
                import_module(name[:i])
        return import_module(name)
    finally:
        if collects:
            gc.enable()


def callable_package(name: str, function: Callable[..., Any]) -> Any:
    """The package ``name``, which is imported, made to be called like ``function``.

    ``from dovetail_core import registry`` is a function, ``dovetail_core.registry`` a package. If
    the attribute were the function, ``import dovetail_core.registry.manifest as m`` would look for
    ``manifest`` in a function. So the attribute is the package, which can be called. A call adds no
    Python frame. Attributes that the package lacks are looked up in the function.
    """

    class CallablePackage(ModuleType):
        __call__ = staticmethod(function)

        @property
        def __signature__(self) -> Any:
            return signature(function)

        def __getattr__(self, attribute: str) -> Any:
            if not attribute.startswith("__") and hasattr(function, attribute):
                return getattr(function, attribute)
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")

    package = sys.modules[name]
    package.__class__ = CallablePackage
    return package
