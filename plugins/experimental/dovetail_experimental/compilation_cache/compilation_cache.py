"""The on-disk compilation cache by functions, beside the option ``compilation_cache_dir``."""

from __future__ import annotations

import os
from typing import Any

from dovetail_core import config, here

__all__ = ["initialize_cache", "is_initialized", "reset_cache", "set_cache_dir"]


def set_cache_dir(path: Any) -> None:
    """Keep compiled programs in the folder ``path``, and look for them there before compiling.

    What is found there is run as code, so the folder must be one that you alone can write to (see
    the option ``compilation_cache_signed``). It is the option ``compilation_cache_dir``.

    Raises:
        TypeError: ``path`` is no path.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(
            f"set_cache_dir{here()}: path is {path!r:.60}, of type {type(path).__name__}; give the "
            "path of a folder, which is made if need be."
        )
    config.update("compilation_cache_dir", os.fspath(path))


def initialize_cache(path: Any) -> None:
    """:func:`set_cache_dir` by another name."""
    set_cache_dir(path)


def is_initialized() -> bool:
    """True if compiled programs are kept in a folder."""
    return config.compilation_cache_dir is not None


def reset_cache() -> None:
    """Keep no more compiled programs; those in the folder stay there."""
    config.update("compilation_cache_dir", None)
