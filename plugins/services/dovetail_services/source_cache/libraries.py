"""Libraries: modules that are taken at their version, without a look at their code, and a digest of
those versions."""

from __future__ import annotations

import hashlib
import os
import site
import sys
import sysconfig
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from dovetail_base.caches import cached
from dovetail_base.source import KERNEL_PACKAGES
from dovetail_core import registry


class NotSound(Exception):
    """A value that a function uses has no digest of all that its program depends on."""


_PURE = frozenset(
    "__future__ _abc _bisect _collections _collections_abc _functools _heapq _operator _struct abc "
    "bisect builtins cmath collections contextlib copy copyreg dataclasses enum fractions "
    "functools genericpath heapq itertools json keyword logging math numbers operator posixpath "
    "pprint re statistics string struct textwrap types typing typing_extensions warnings".split()
)
"""Modules of the standard library whose functions depend on their arguments alone."""
_SIGNATURES = frozenset(
    f"inspect.{name}" for name in "Signature Parameter _ParameterKind _empty".split()
)
"""The attributes in which functions describe their parameters."""
_FILES = frozenset("_io csv io pathlib pickle tomllib".split())
"""And those that read files; the builtin ``open`` is one of ``io``."""
_BUILTINS = frozenset(
    "__import__ breakpoint compile delattr eval exec globals hash id input locals vars".split()
)
"""Builtin functions that do more than compute something of their arguments."""
_UNSOUND = ("numpy.random", "numpy.ctypeslib")
_READERS = frozenset("fromfile genfromtxt load loadtxt memmap open_memmap".split())
"""NumPy's functions that read files."""


@cached(permanent="folders do not change in a process")
def own_folders() -> tuple[str, ...]:
    """The folders of the packages of Dovetail and its plugins, with a separator at the end."""
    packages = {"dovetail", *KERNEL_PACKAGES}
    for plugin in registry().plugins.values():
        packages.add(plugin.target.partition(":")[0].partition(".")[0])
    result = [_file_of(p) for p in sorted(packages)]
    return tuple(sorted({os.path.dirname(os.path.abspath(f)) + os.sep for f in result if f}))


def _file_of(package: str) -> str | None:
    module = sys.modules.get(package)
    if module is not None:
        return module.__file__
    spec = find_spec(package)
    return None if spec is None else spec.origin


@cached(permanent="folders do not change in a process")
def library_folders() -> tuple[str, ...]:
    """The folders into which packages are installed, with a separator at the end."""
    paths = sysconfig.get_paths()
    result = [paths["purelib"], paths["platlib"], *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        result.append(site.getusersitepackages())
    return tuple(dict.fromkeys(os.path.abspath(p) + os.sep for p in result))


@cached(permanent="folders do not change in a process")
def standard_folders() -> tuple[str, ...]:
    """The folders of the standard library."""
    paths = sysconfig.get_paths()
    return tuple({os.path.abspath(paths[k]) + os.sep for k in ("stdlib", "platstdlib")})


@cached
def kind_of_file(path: str) -> str:
    """``own``, ``installed``, ``standard``, or ``user`` for the user's programs."""
    path = os.path.abspath(path)
    if path.startswith(own_folders()):
        return "own"
    if path.startswith(library_folders()):
        return "installed"
    return "standard" if path.startswith(standard_folders()) else "user"


def kind_of(name: str) -> str:
    """The same of a module that was imported; ``user`` for one that was not."""
    module = _loaded(name)
    if module is None or name == "__main__":
        return "user"
    file = getattr(module, "__file__", None)
    if file is not None:
        return kind_of_file(file)
    if name in sys.builtin_module_names or name.partition(".")[0] in sys.stdlib_module_names:
        return "standard"
    folders = list(getattr(module, "__path__", ()))
    if folders:  # a package of several distributions
        return kind_of_file(os.path.join(folders[0], ""))
    return "standard" if name.startswith("jaxlib") else "user"


def _loaded(name: str) -> ModuleType | None:
    """A module that was imported, or one of Dovetail's, whose objects may be there before it is."""
    if name not in sys.modules and name.startswith("dovetail."):
        with suppress(ImportError):
            import_module(name)
    return sys.modules.get(name)


def is_library(name: Any) -> bool:
    """Tell whether a module is taken at its version."""
    return isinstance(name, str) and kind_of(name) != "user"


def check_library(module: str, name: str, reads: bool) -> None:
    """Refuse names of libraries whose results depend on more than their arguments.

    Args:
        reads: whether the user said which files are read.

    Raises:
        NotSound: names it.
    """
    top, last = module.partition(".")[0], name.rpartition(".")[2]
    full = f"{module}.{name}" if name else module
    if full.startswith(_UNSOUND):
        raise NotSound(f"{full} gives something else each time")
    if top == "numpy":
        if last in _READERS and not reads:
            raise NotSound(f"{full} reads a file (name it: jit(..., reads=[path]))")
        return
    if kind_of(module) != "standard":
        return
    if module == "builtins":
        if name.partition(".")[0] in _BUILTINS:
            raise NotSound(f"the builtin {name} depends on more than its arguments")
        return
    if top in _FILES and not reads:
        raise NotSound(f"{full} reads a file (name it: jit(..., reads=[path]))")
    if top in _PURE or top in _FILES or top == "jaxlib" or full in _SIGNATURES:
        return
    raise NotSound(f"{full} may depend on more than its arguments")


def global_named(module: Any, name: Any) -> Any:
    """The attribute of a loaded module under a name with dots; None if there is none."""
    result: Any = _loaded(module) if isinstance(module, str) else None
    if result is None or not isinstance(name, str):
        return None
    for part in name.split("."):
        result = _member(result, part)
        if result is None:
            return None
    return result


def _member(owner: Any, name: str) -> Any:
    if isinstance(owner, ModuleType) and kind_of(owner.__name__) != "own":
        return vars(owner).get(name)  # its attributes as they are, with no call of its __getattr__
    return getattr(owner, name, None) if isinstance(owner, (type, ModuleType)) else None


@cached(permanent="what is installed does not change in a process")
def installed() -> bytes:
    """A digest of all that is taken at its version."""
    result = [sys.version, sys.implementation.cache_tag or ""]
    for folder in library_folders():
        result += _distributions(folder)
    for folder in own_folders():
        if not folder.startswith(library_folders()):
            result += _sources(folder)
    return hashlib.sha256("\n".join(result).encode(errors="surrogateescape")).digest()


def file_facts(module: str) -> tuple[int, ...]:
    """Size and time of change of the file of an installed module that a function refers to: it may
    have been edited."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or kind_of_file(file) != "installed":
        return ()
    facts = os.stat(file)
    return facts.st_size, facts.st_mtime_ns


def _distributions(folder: str) -> list[str]:
    """``name-version.dist-info`` of each, and when it was put there."""
    result: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for e in entries:
            if e.name.endswith((".dist-info", ".egg-info", ".pth")):
                result.append(f"{folder}{e.name} {e.stat().st_mtime_ns}")
    return sorted(result)


def _sources(folder: str) -> list[str]:
    """Each source file below a folder, its size and when it was changed."""
    result: list[str] = []
    with os.scandir(folder) as entries:
        for e in entries:
            if e.is_dir():
                if e.name != "__pycache__":
                    result += _sources(e.path)
            elif e.name.endswith((".py", ".so")):
                facts = e.stat()
                result.append(f"{e.path} {facts.st_size} {facts.st_mtime_ns}")
    return sorted(result)
