"""The user's secret, with which entries are signed: a file that nobody else can read."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from .folder import make_folders
from .trust import UntrustedFile, check_folder, read_file

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
    """Write it aside and link it to its place, so that of two processes one makes it, whole."""
    make_folders(str(path.parent))
    aside = path.with_name(f".{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(file, "wb") as f:
            f.write(os.urandom(_LENGTH))
        with suppress(FileExistsError):  # another process was first
            os.link(aside, path)
    finally:
        os.unlink(aside)
