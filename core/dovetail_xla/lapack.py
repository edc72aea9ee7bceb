"""LAPACK on the CPU: targets registered when first needed, because that imports SciPy."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import ffi
from .loading import load

_lock = threading.Lock()
_targets: set[str] = set()


def register() -> None:
    """Registers the LAPACK and sparse targets of the CPU; the second call does nothing."""
    if _targets:
        return
    dense, sparse = load("lapack").registrations(), load("cpu._sparse").registrations()
    with _lock:  # in which nothing is imported: see base.once
        if _targets:
            return
        for name, handler in sparse.items():
            ffi.register_target(name, handler)
        result = set(sparse)
        for platform, targets in dense.items():
            for name, handler, api_version in targets:
                ffi.register_target(name, handler, platform, api_version)
                result.add(name)
        _targets.update(result)


def targets() -> frozenset[str]:
    """The names of these targets."""
    register()
    return frozenset(_targets)


def target_name(base: str, dtype: Any) -> str:
    """The custom-call target of a routine: ("getrf", float32) -> "lapack_sgetrf_ffi".

    Raises TypeError for a dtype other than float32, float64, complex64, complex128, and ValueError
    for a routine that jaxlib does not have for that dtype (real and complex names differ).
    """
    register()
    try:
        name: str = load("lapack").prepare_lapack_call(f"{base}_ffi", np.dtype(dtype))
    except NotImplementedError:
        raise TypeError(
            f"LAPACK's {base} takes float32, float64, complex64 or complex128, not "
            f"{np.dtype(dtype)}: convert the matrix first"
        ) from None
    if name not in _targets:
        raise ValueError(f"jaxlib has no LAPACK routine {base!r} for {np.dtype(dtype)} ({name})")
    return name
