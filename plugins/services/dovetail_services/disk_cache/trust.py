"""Checks that folders and files are the user's own, or that no other user can change them.

The rules are those by which ssh accepts its configuration: a folder and all folders above it belong
to the user or to root, and nobody else may write to them. Above the folder itself, one that others
may write to is accepted if it is sticky, as /tmp is: nobody can rename what another owns there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_POSIX = hasattr(os, "geteuid")  # elsewhere modes and owners say nothing
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # the opening of a FIFO does not wait for its writer
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def make_folders(path: str) -> None:
    """Make a folder and its missing parents, for the user alone."""
    missing: list[str] = []
    path = os.path.abspath(path)
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(each, 0o700)
    if missing and not os.path.isdir(missing[0]):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), missing[0])


class UntrustedFile(Exception):
    """A file or folder that others could have changed; the text says which and why."""


def check_folder(path: str) -> None:
    """Raise UntrustedFile if others than the user and root can change the content of a folder."""
    if not _POSIX:
        return
    path = os.path.realpath(path)
    for folder in _with_parents(path):
        result = os.lstat(folder)
        problem = _problem(result, folder)
        shared = problem and result.st_mode & stat.S_ISVTX and result.st_uid in (0, os.geteuid())
        if problem and not (shared and folder != path):
            raise UntrustedFile(f"{folder} {problem}")


def _with_parents(path: str) -> Iterator[str]:
    yield path
    while (above := os.path.dirname(path)) != path:
        path = above
        yield path


def _problem(result: os.stat_result, path: str) -> str:
    if result.st_uid not in (0, os.geteuid()):
        return f"belongs to the user with number {result.st_uid}"
    if result.st_mode & stat.S_IWOTH:
        return "may be written to by everybody"
    if result.st_mode & stat.S_IWGRP and not _is_own_group(result.st_gid, path):
        return f"may be written to by the group with number {result.st_gid}"
    return ""


def _is_own_group(gid: int, path: str) -> bool:
    """Tell whether a group is root's, or the user's private one, and no access list says more."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(gid)
        listed = "system.posix_acl_access" in getattr(os, "listxattr", lambda p: [])(path)
    except (KeyError, OSError):
        return False
    private = group.gr_name == user and not set(group.gr_mem) - {user}
    return (gid == 0 or private) and not listed


def read_file(path: str, largest: int, *, shared: bool = False) -> tuple[bytes, int]:
    """The content of a file, which must be a plain one, and the open file, to be closed by the
    caller.

    Raises:
        UntrustedFile: it is a link, a pipe, a device or a folder, is larger than ``largest`` bytes,
            or, unless it is ``shared``, others than the user and root can change it.
        OSError: it cannot be read; FileNotFoundError: there is none.
    """
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError:
        if not os.path.islink(path) and not os.path.isdir(path):
            raise
        raise UntrustedFile("it is not a plain file") from None
    try:
        result = os.fstat(file)
        if not stat.S_ISREG(result.st_mode):
            raise UntrustedFile("it is not a plain file")
        problem = "" if shared or not _POSIX else _problem(result, path)
        if problem:
            raise UntrustedFile(f"it {problem}")
        if result.st_size > largest:
            raise UntrustedFile(f"it has {result.st_size} bytes")
        return _read(file, result.st_size), file
    except BaseException:
        os.close(file)
        raise


def _read(file: int, size: int) -> bytes:
    """Up to one byte more than ``size``, so that a file that grows is noticed."""
    parts: list[bytes] = []
    left = size + 1
    while left and (part := os.read(file, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


_LENGTH = 32


def secret_path() -> Path:
    """The file of the secret: ``dovetail/cache_secret`` in the user's folder of configurations."""
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    home = Path(configured) if os.path.isabs(configured) else Path.home() / ".config"
    return home / "dovetail" / "cache_secret"


def user_secret() -> bytes:
    """The user's secret, made at first use.

    Raises:
        UntrustedFile: others may read or change it. OSError: it can be neither read nor made.
    """
    path = secret_path()
    if not path.exists():
        _make(path)
    check_folder(str(path.parent))
    try:
        result, file = read_file(str(path), _LENGTH)
    except UntrustedFile as e:
        raise UntrustedFile(f"the secret {path} is not safe: {e}") from None
    try:
        mode = os.fstat(file).st_mode
    finally:
        os.close(file)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise UntrustedFile(f"the secret {path} is not safe: others may read it (chmod 600)")
    if len(result) != _LENGTH:
        raise UntrustedFile(f"the secret {path} has {len(result)} bytes, not {_LENGTH}: delete it")
    return result


def _make(path: Path) -> None:
    """Write it to a temporary file and link that: of two processes one makes it, atomically."""
    make_folders(str(path.parent))
    temporary = path.with_name(f".{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(file, "wb") as f:
            f.write(os.urandom(_LENGTH))
        with suppress(FileExistsError):  # another process was first
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
