"""The import hook: from ``install()`` on, ``import jax`` and all below it answers with Dovetail.

Nothing of Dovetail is imported before somebody asks for ``jax``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import versions

VARIABLE = "DOVETAIL_AS_JAX"
"""The environment variable that installs the hook in each Python process."""


class JaxPresent(ImportError):
    """Genuine ``jax`` is in the process, so that Dovetail cannot answer for it."""


def install() -> None:
    """Answer for ``jax`` from now on, in this process.

    Raises:
        JaxPresent: genuine ``jax`` was imported before.
    """
    if is_installed():
        return
    if sys.modules.get("jax") is not None:
        raise JaxPresent(
            "dovetail cannot answer for `jax`: the package `jax` itself is already imported, and "
            "both drive one C++ runtime. Import dovetail.jax before anything that imports jax, or "
            "start the program with `dovetail run`.",
            name="jax",
        )
    sys.meta_path.insert(0, _Finder())


def install_if_asked() -> None:
    """Install the hook if the variable says so, when Python starts (``dovetail_as_jax.pth``)."""
    if os.environ.get(VARIABLE, "0").lower() not in ("", "0", "false", "off"):
        install()


def load_ipython_extension(ipython: object) -> None:
    """Do nothing for ``%load_ext dovetail.jax``: importing that module has installed the hook."""


def is_installed() -> bool:
    """True if the hook is there."""
    return any(isinstance(f, _Finder) for f in sys.meta_path)


class _Finder:
    """Finds the modules that answer for those of ``jax``."""

    answers_for = "jax"  # the kernel, which refuses the package, lets this one answer

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        if name == "jax":
            return ModuleSpec(name, _loader(name, "dovetail_jax_names.root"), is_package=True)
        if not name.startswith("jax."):
            if name in versions.LIBRARIES:
                versions.check(name)
            return None
        names = import_module("dovetail_jax_names.names")
        home: str = names.home(name)
        if home:
            return ModuleSpec(name, _loader(name, home))
        if _is_import():
            parent, _, last = name.rpartition(".")
            why = import_module("dovetail_jax_names.absence").reason_of_module(parent, last)
            raise ModuleNotFoundError(f"No module named {name!r}. {why}", name=name)
        return None


def _is_import() -> bool:
    """True if the finder was called by an import; ``importlib.util.find_spec`` only looks."""
    frame = sys._getframe(2).f_back  # pyright: ignore[reportPrivateUsage]
    return frame is not None and frame.f_code.co_name == "_find_and_load_unlocked"


def _loader(name: str, home: str) -> Any:
    return _Loader(name, home)


class _Loader:
    """Gives a module a second name; it stays what it was.

    It is imported here and not where it is found, when Python holds its import lock.
    """

    def __init__(self, name: str, home: str) -> None:
        self._name = name
        self._home = home

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module("dovetail_jax_names.names").load(self._home)
        self._spec = module.__spec__ or spec  # made for this name only
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        if self._name != "jax":  # what it has is named as it is asked for
            import_module("dovetail_jax_names.classes").name_contents(self._name, module)
        import_module("dovetail_jax_names.dictionaries").give_dictionary(module)
