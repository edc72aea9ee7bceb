"""Backends of accelerators whose runtime is the library of a PJRT plugin package.

The plugins' Python packages are never imported, since some import ``jax``: the library is found
through the distributions' metadata and opened by its path.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any

from dovetail_base.entry_points import installed_version
from dovetail_core import registry
from dovetail_xla import client as xla_client, ffi
from dovetail_xla.arrays import XlaRuntimeError
from dovetail_xla.version import JAXLIB_VERSION, parse

from .backend import PjrtBackend


@dataclass(frozen=True)
class PluginPackage:
    """One way to install an accelerator's runtime.

    Attributes:
        extra: the extra of the distribution ``dovetail`` that installs it.
        distributions: the required distributions; the first one has the library.
        library: the library's path below the site directory.
        extension: the module with its foreign functions, if it has one.
        fits_jaxlib: True if its version must be jaxlib's.
    """

    extra: str
    distributions: tuple[str, ...]
    library: str
    extension: str = ""
    fits_jaxlib: bool = True

    def problem(self) -> str:
        """The missing distributions, or the version that does not fit; or an empty string."""
        versions = {d: installed_version(d) for d in self.distributions}
        missing = [d for d, v in versions.items() if not v]
        if missing:
            return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        if self.fits_jaxlib:
            for name, version in versions.items():
                if parse(version)[:3] != JAXLIB_VERSION[:3]:
                    wanted = ".".join(map(str, JAXLIB_VERSION))
                    return f"{name} {version} does not fit jaxlib {wanted}"
        return "" if self.path().is_file() else f"{self.distributions[0]} lacks {self.library}"

    def path(self) -> Path:
        """The path of the library, which need not exist."""
        from importlib import metadata  # takes long, and no program without accelerators needs it

        return Path(str(metadata.distribution(self.distributions[0]).locate_file(self.library)))


@dataclass(frozen=True)
class Accelerator:
    """A platform that a PJRT plugin brings.

    Attributes:
        platform: its name, as the plugin calls it.
        device: one of its devices in messages: ``"an NVIDIA GPU"``.
        packages: the ways to install it, best first.
        hidden: returns the reason why no device is visible and the remedy, or an empty string; its
            argument is the root of the file system.
        start_remedy: advice for the case that it is installed and visible and does not start.
        ffi_platform: the name that foreign functions are registered for, if it has any.
        libraries: names of shared libraries to open first, in this order, where pip installed them.
    """

    platform: str
    device: str
    packages: tuple[PluginPackage, ...]
    hidden: Callable[[Path], str]
    start_remedy: str
    ffi_platform: str = ""
    libraries: tuple[str, ...] = ()

    def package(self) -> tuple[PluginPackage | None, str]:
        """The first package that is installed and fits, or None and the reason."""
        problems = [(p, p.problem()) for p in self.packages]
        for package, problem in problems:
            if not problem:
                return package, ""
        started = [(p, why) for p, why in problems if any(map(installed_version, p.distributions))]
        package, why = (started or problems)[0]
        return None, f"{why} (pip install 'dovetail[{package.extra}]')"


class PluginBackend(PjrtBackend):
    """The backend of an accelerator."""

    def __init__(self, accelerator: Accelerator, priority: int, root: Path = Path("/")) -> None:
        super().__init__(accelerator.platform, self._start, priority, self._why_not)
        self.accelerator = accelerator
        self._root = root

    def hidden(self) -> str:
        """The reason why no device is visible here, or an empty string."""
        return self.accelerator.hidden(self._root)

    def notice(self) -> str:
        """A message if the hardware is visible and the software not installed, else empty."""
        why = "" if self.hidden() else self.accelerator.package()[1]
        return f"{self.accelerator.device} is visible here, but {why}" if why else ""

    def _why_not(self) -> str:
        return "; ".join(filter(None, [self.accelerator.package()[1], self.hidden()]))

    def _start(self) -> Any:
        package, why = self.accelerator.package()
        if package is None:
            raise RuntimeError(f"backend {self.platform!r} cannot start: {why}")
        failed = preload(self.accelerator.libraries)
        try:
            return self._client_of(package)
        except (XlaRuntimeError, ValueError, ImportError, OSError) as e:
            notes = [str(e).strip().partition("\n")[0], *failed]
            raise RuntimeError(
                f"backend {self.platform!r} did not start ({'; '.join(notes)}). "
                f"{self.accelerator.start_remedy}"
            ) from e

    def _import(self) -> None:
        super()._import()
        package = self.accelerator.package()[0]
        if package is not None and self.accelerator.ffi_platform:
            with suppress(ImportError):  # the start says what is wrong
                import_module(package.extension)

    def _client_of(self, package: PluginPackage) -> Any:
        c_api = xla_client.load_plugin(self.platform, package.path())
        platform = self.accelerator.ffi_platform
        if platform and platform not in _attached:
            ffi.attach_plugin(platform, c_api, import_module(package.extension))
            ffi.register_gpu_libraries(platform)
            _attached.add(platform)
        options = xla_client.gpu_plugin_options() if platform else {}
        processes = registry().provider("processes", None)
        joined = None
        if processes is not None:
            more, joined = processes.plugin_client_options(self.platform)
            options = {**options, **more}
        return xla_client.make_plugin_client(self.platform, options, joined)


_attached: set[str] = set()  # a second start after a failed one must not register again


def preload(libraries: tuple[str, ...]) -> list[str]:
    """Open shared libraries of the ``nvidia-*`` wheels, so that the plugin finds them by name.

    The system's loader searches for those that are not installed. Returns the failures, as text.
    """
    spec = util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    failed: list[str] = []
    for name in libraries:
        for path in [p for r in roots for p in sorted(Path(r).glob(f"*/lib/{name}.so*"))][:1]:
            try:
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            except OSError as e:
                failed.append(f"{path.name} did not open: {e}")
    return failed


def visible(root: Path, *patterns: str) -> bool:
    """True if a file below ``root`` matches one of the patterns."""
    return any(next(root.glob(p), None) is not None for p in patterns)
