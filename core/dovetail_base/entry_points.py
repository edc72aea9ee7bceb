"""Entry points of installed distributions, read without ``importlib.metadata`` if possible.

Its import alone, with the package for e-mail that reads the files' headers, takes as long as a
dozen plugins. For ordinary folders on ``sys.path`` little has to be done; everything else, such as
other finders, archives and files that do not parse, is left to ``importlib.metadata``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, NamedTuple

from .caches import Cache
from .plugin_calls import spell

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_INFO = (".dist-info", ".egg-info")
UNKNOWN = "(of unknown version)"


class Entry(NamedTuple):
    """An entry point, and the distribution and version it belongs to."""

    name: str
    value: str
    distribution: str
    version: str

    @property
    def module(self) -> str:
        """The name of the module that holds the object."""
        return self._target[0]

    @property
    def _target(self) -> tuple[str, str]:
        module, _, attribute = self.value.partition("[")[0].partition(":")
        return module.strip(), attribute.strip()

    def load(self) -> Any:
        """Import the module and return the object."""
        module, attribute = self._target
        result: Any = import_module(module)
        for part in attribute.split(".") if attribute else ():
            result = getattr(result, part)
        return result


def installed(group: str, path: Sequence[str] | None = None) -> tuple[list[Entry], list[str]]:
    """The entry points of a group, and messages about distributions that cannot be read.

    Args:
        path: the folders to look into; by default ``sys.path``.
    """
    if not _others_find():
        try:
            return [*_plain(group, sys.path if path is None else path)], []
        except (OSError, ValueError):  # something that is no folder, or does not parse
            pass
    return _by_metadata(group, path)


def installed_version(distribution: str) -> str:
    """The version of an installed distribution; an empty string if there is none."""
    wanted = _normalised(distribution)
    if not _others_find():
        try:
            info = next((i for key, i in _infos(sys.path) if key == wanted), "")
            version = _named_in(info)[1] if info else ""
        except (OSError, ValueError):
            pass
        else:
            if version != UNKNOWN:
                return version
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _others_find() -> bool:
    """Return whether finders other than Python's own may find distributions."""
    return any(hasattr(x, "find_distributions") for x in sys.meta_path if x is not PathFinder)


def _plain(group: str, path: Sequence[str]) -> Iterator[Entry]:
    """The entry points of distributions in folders."""
    for _, info in _infos(path):
        if entries := _parsed(_text(info, "entry_points.txt"), group):
            named = _named_in(info)
            yield from (Entry(*pair, *named) for pair in entries)


def _infos(path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Distributions by their normalised names, with their folders of metadata; the first one of
    each name."""
    seen: set[str] = set()
    for folder in path:
        if folder.lower().endswith(".egg"):
            raise ValueError(f"{folder} is an archive of its own kind")
        try:
            names = _names_in(folder or ".")
        except (FileNotFoundError, PermissionError):
            continue
        for key, name in names:
            if key not in seen:
                seen.add(key)
                yield key, os.path.join(folder, name)


_known: Cache[str, tuple[int, list[tuple[str, str]]]] = Cache()
"""The distributions in folders, with the times of the folders' last changes."""


def _names_in(folder: str) -> list[tuple[str, str]]:
    changed = os.stat(folder).st_mtime_ns
    known = _known.get(folder)
    if known is None or known[0] != changed or folder == ".":
        result: list[tuple[str, str]] = []
        for name in os.listdir(folder):
            stem, suffix = os.path.splitext(name.lower())
            if suffix in _INFO:
                result.append((_normalised(stem.partition("-")[0]), name))
        known = _known[folder] = changed, result
    return known[1]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read().decode()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError):
        return ""


def _parsed(text: str, group: str) -> list[tuple[str, str]]:
    result: list[tuple[str, str]] = []
    section: str | None = None
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line.strip("[]")
        elif section is not None:
            name, equals, value = line.partition("=")
            if not equals:
                raise ValueError(f"{line!r} is no entry point")
            if section == group:
                result.append((name.strip(), value.strip()))
    return result


def _named_in(info: str) -> tuple[str, str]:
    """Name and version from the header of the file of metadata, which may be damaged."""
    try:
        text = _text(info, "METADATA") or _text(info, "PKG-INFO")
    except UnicodeDecodeError:
        text = ""
    header: dict[str, str] = {}
    for line in text.partition("\n\n")[0].splitlines():
        field, _, value = line.partition(":")
        header.setdefault(field.lower(), value.strip())
    return header.get("name") or os.path.basename(info), header.get("version") or UNKNOWN


def _by_metadata(group: str, path: Sequence[str] | None) -> tuple[list[Entry], list[str]]:
    from importlib.metadata import distributions

    result, problems = list[Entry](), list[str]()
    seen: set[str] = set()
    for dist in distributions() if path is None else distributions(path=[*path]):
        named = _named(dist)
        if (key := _normalised(named[0])) in seen:
            continue
        seen.add(key)
        try:
            entries = [ep for ep in dist.entry_points if ep.group == group]
        except Exception as e:  # it is malformed, perhaps one of nothing to do with us
            text = f"the entry points of {' '.join(named)} cannot be read: {spell(e)}"
            problems.append(f"{text}. Repair or uninstall it.")
        else:
            result += [Entry(ep.name, ep.value, *named) for ep in entries]
    return result, problems


def _named(dist: Distribution) -> tuple[str, str]:
    """Name and version, which a damaged distribution may lack."""
    try:
        name, version = dist.name, dist.version
    except Exception:  # it has no METADATA, or another file in its place
        name = version = None
    folder = getattr(getattr(dist, "_path", None), "name", "?")
    return name or str(folder), version or UNKNOWN
