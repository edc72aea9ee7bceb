"""The command ``dovetail cache``: shows, verifies and empties the cache on disk."""

from __future__ import annotations

import json
import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from dovetail_core import DovetailError

from .entry import LARGEST, DamagedEntry, Parts, is_old, split_entry
from .folder import File, delete, entries, remove_left_behind
from .options import cache_dir, cache_max_size, cache_signed
from .trust import UntrustedFile, check_folder, read_file, user_secret

help = "show, check and empty the cache on disk"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "action", choices=["list", "info", "clear", "verify"],
        help="list: each entry; info: the folder; clear: delete entries; verify: check every byte",
    )  # fmt: skip
    parser.add_argument(
        "--dir", metavar="PATH", help="the folder, instead of DOVETAIL_COMPILATION_CACHE_DIR"
    )
    parser.add_argument(
        "--older-than", metavar="DAYS", type=float, default=0.0,
        help="clear: only entries that were not used for so many days",
    )  # fmt: skip
    parser.add_argument("--delete", action="store_true", help="verify: delete what is damaged")
    parser.epilog = "for example: dovetail cache list --dir ~/.cache/dovetail"


def run(args: Namespace) -> int:
    """Perform the action; 1 if an entry is damaged."""
    folder = _folder(args.dir)
    result = sorted(entries(folder), key=lambda f: -f.used)
    if args.action == "list":
        _list(folder, result)
    elif args.action == "info":
        _info(folder, result)
    elif args.action == "clear":
        _clear(folder, result, args.older_than)
    else:
        return _verify(folder, result, args.delete)
    return 0


def _folder(given: str | None) -> str:
    """The folder of the cache.

    Raises:
        DovetailError: there is none, or others may write to it; says what to do.
    """
    path = given or cache_dir.value
    if not path:
        raise DovetailError(
            "there is no cache: set DOVETAIL_COMPILATION_CACHE_DIR, or name a folder with --dir."
        )
    path = os.path.abspath(Path(path).expanduser())
    if not os.path.isdir(path):
        what = f"{path} is no folder" if os.path.lexists(path) else f"there is no folder {path}"
        raise DovetailError(f"{what}: no program was written there.")
    try:
        if not cache_signed.value:
            check_folder(path)
    except UntrustedFile as e:
        raise DovetailError(
            f"{path} is not used as a cache: {e}. Take a folder that you alone can write to, or "
            "set DOVETAIL_COMPILATION_CACHE_SIGNED=1."
        ) from None
    return path


def _list(folder: str, result: list[File]) -> None:
    for f in result:
        parts = _parts(folder, f)
        label = parts if isinstance(parts, str) else parts.label.decode(errors="replace")
        print(f"{f.name[:12]}  {_size(f.size):>9}  {_ago(f.used):>9}  {_plain(label)}")
    print(f"{_count(result)} in {folder}")


def _info(folder: str, result: list[File]) -> None:
    limit = cache_max_size.value
    kinds, environments = dict[str, int](), dict[str, int]()
    for f in result:
        parts = _parts(folder, f)
        known = isinstance(parts, Parts)
        kind = parts.label.decode(errors="replace").partition(" ")[0] if known else "damaged or old"
        kinds[kind] = kinds.get(kind, 0) + 1
        if known:
            text = _environment(parts)
            environments[text] = environments.get(text, 0) + 1
    print(f"folder: {folder}")
    print(f"entries: {_count(result)}")
    print(f"limit: {'none' if limit < 0 else _size(limit)}")
    print(f"signed: {'yes' if cache_signed.value else 'no'}")
    for what, counts in (("kind", kinds), ("for", environments)):
        for name, n in sorted(counts.items()):
            print(f"{what}: {_plain(name)}: {n}")


def _clear(folder: str, result: list[File], days: float) -> None:
    if not days >= 0:
        raise DovetailError(f"--older-than is a number of days, 0 or more, not {days:g}.")
    before = time.time_ns() - int(days * 86400e9)
    chosen = [f for f in result if not days or f.used < before]
    deleted = [f for f in chosen if delete(folder, f.name)]
    remove_left_behind(folder)
    print(f"deleted {_count(deleted)} in {folder}")
    if len(deleted) < len(chosen):
        print(f"{len(chosen) - len(deleted)} could not be deleted: they are another user's")


def _verify(folder: str, result: list[File], remove: bool) -> int:
    bad = 0
    for f in result:
        parts = _parts(folder, f, with_body=True)
        if isinstance(parts, str):
            bad += 1
            is_deleted = remove and delete(folder, f.name)
            print(f"{f.name}: {parts}{' (deleted)' if is_deleted else ''}")
    print(f"{_count(result)} in {folder}: {bad or 'none'} damaged or of an earlier version")
    return 1 if bad and not remove else 0


def _parts(folder: str, f: File, with_body: bool = False) -> Parts | str:
    """The parts of an entry, or a description of its fault."""
    try:
        secret = user_secret() if cache_signed.value else None
        path = os.path.join(folder, f.name)
        blob, file = read_file(path, LARGEST, shared=cache_signed.value)
        os.close(file)
        if is_old(blob):
            return "it has the format of an earlier version"
        parts = split_entry(blob, secret)
        if with_body:
            parts.body()
    except (DamagedEntry, UntrustedFile) as e:
        return str(e)
    except OSError as e:
        return f"it cannot be read: {e.strerror}"
    return parts


def _environment(parts: Parts) -> str:
    """The versions and the device that an entry is for, in words."""
    try:
        facts = json.loads(parts.environment)
        names = ("platform", "device_kind", "machine")
        return f"jaxlib {facts['jaxlib']}, {' '.join(str(facts[n]) for n in names)}"
    except (ValueError, KeyError, TypeError):
        return "an unknown environment"


def _plain(text: str) -> str:
    """Text without characters that could move the cursor of a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _count(result: list[File]) -> str:
    n = len(result)
    return f"{n} {'entry' if n == 1 else 'entries'}, {_size(sum(f.size for f in result))}"


def _size(n: float) -> str:
    units: Iterator[str] = iter(("B", "kB", "MB", "GB"))
    unit = next(units)
    while n >= 1000 and unit != "GB":
        n, unit = n / 1000, next(units)
    return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"


def _ago(used: int) -> str:
    seconds = max(0.0, (time.time_ns() - used) / 1e9)
    for name, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {name} ago"
    return "now"
