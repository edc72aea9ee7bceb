"""Starting jaxlib's C++ runtime without the package `jax`, and keeping `jax` out of the process."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from typing import Any, cast

AvalFactory = Callable[[tuple[int, ...], Any, bool], Any]
"""(shape, dtype, weak_type) -> aval, for arrays that C++ makes by itself."""

_ADVICE = (
    "Both drive one C++ runtime per process (array class, call cache keys, x64 state), so they "
    "cannot share a process. Run them in separate processes and exchange data as NumPy files, "
    "shared memory or DLPack-aware libraries. To run a program that was written for jax on "
    "dovetail, start it with `dovetail run`, or import dovetail.jax first."
)
# Looked up by C++ for every single-device array it makes; None in sys.modules answers at once
# (and makes C++ use its own SingleDeviceSharding) where a real look-up costs 40-50 us.
_LOOKED_UP_EVERY_TIME = "jax._src.sharding_impls"


class JaxRefused(ModuleNotFoundError):
    """`jax` and dovetail were imported in one process; a kind of ImportError."""


def refuse_jax() -> None:
    """Raises if `jax` is already imported; otherwise makes a later `import jax` raise.

    A finder with ``answers_for = "jax"`` provides `jax` itself, and is asked first.
    """
    if sys.modules.get("jax") is not None:
        raise JaxRefused(
            f"dovetail cannot be imported: the package `jax` is already imported. {_ADVICE}",
            name="dovetail_core",
        )
    if not any(isinstance(finder, _JaxFinder) for finder in sys.meta_path):
        answering = [getattr(finder, "answers_for", "") == "jax" for finder in sys.meta_path]
        sys.meta_path.insert(answering.index(True) + 1 if any(answering) else 0, _JaxFinder())


def quiet_logs() -> None:
    """Keeps C++ from printing informational lines, unless the user asked for a log level."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")


class _JaxFinder:
    """A finder that refuses to import `jax` when it is installed, for users and for C++.

    `importlib.util.find_spec("jax")` still finds it: optional-dependency checks in other packages
    see it installed, and their guarded `import jax` fails in the way they expect.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        if name != "jax":
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            result = find(name, path, target) if find is not None else None
            if result is not None:
                return ModuleSpec(name, cast("Any", _RefusingLoader()), origin=result.origin)
        return None


class _RefusingLoader:
    # Not of importlib.abc, which imports a quarter of the standard library.

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        raise JaxRefused(
            f"`jax` cannot be imported: this process already uses dovetail. {_ADVICE}", name="jax"
        )

    def exec_module(self, module: types.ModuleType) -> None:
        raise AssertionError("create_module always raises")


_aval_factory: AvalFactory | None = None
_pspec_check: Callable[[Any, Any], None] | None = None
_primed = False
_lock = threading.Lock()


def prime(aval_factory: AvalFactory) -> None:
    """Sets the function by which C++ makes avals.

    To be called before the first client is made: C++ remembers the aval of each shape and dtype
    that it has asked for, so a later call counts only for those that are new.
    """
    global _aval_factory
    _aval_factory = aval_factory


def check_specs(check: Callable[[Any, Any], None]) -> None:
    """Sets the check of (mesh, spec) of a NamedSharding, without which C++ makes none."""
    global _pspec_check
    with _lock:
        _ensure_specs_primed()
    _pspec_check = check


def _make_aval(shape: Sequence[int], dtype: Any, weak_type: bool = False) -> Any:
    if _aval_factory is None:
        return types.SimpleNamespace(shape=tuple(shape), dtype=dtype, weak_type=weak_type)
    return _aval_factory(tuple(shape), dtype, weak_type)


def _check_pspec(mesh: Any, spec: Any) -> None:
    if _pspec_check is not None:
        _pspec_check(mesh, spec)


def ensure_primed(cpu_device: Any) -> None:
    """Makes C++ do its once-per-process look-ups of `jax.*` names now, and find stand-ins.

    C++ imports four modules the first time it makes certain objects, and keeps what it got. The
    stand-ins are in sys.modules only during this call, so no other code sees a fake `jax`; modules
    of that name that were there before are restored.
    """
    global _primed
    if _primed:
        return
    with _lock:
        if _primed:
            return
        stubs = {
            "jax": {},  # the C API import of "jax.core" resolves the top name too
            "jax.core": {"ShapedArray": _make_aval},
            "jax._src.literals": {"TypedNdArray": type("TypedNdArray", (), {})},
        }
        sys.modules[_LOOKED_UP_EVERY_TIME] = None  # type: ignore[assignment]
        with _Stubs(stubs):
            _touch_every_lookup(cpu_device)
        _ensure_specs_primed()
        _primed = True


_specs_primed = False


def _ensure_specs_primed() -> None:
    global _specs_primed
    if not _specs_primed:
        from . import bindings as b

        with _Stubs({"jax": {}, "jax._src.named_sharding": {"check_pspec": _check_pspec}}):
            b.NamedSharding(_NoMesh(), ())
        _specs_primed = True


class _Stubs:
    """A context in which stand-in modules have names of jax in ``sys.modules``."""

    def __init__(self, stubs: Mapping[str, Mapping[str, Any]]) -> None:
        self._stubs = stubs
        self._before: dict[str, Any] = {}

    def __enter__(self) -> None:
        self._before = {name: sys.modules[name] for name in self._stubs if name in sys.modules}
        for name, attributes in self._stubs.items():
            sys.modules[name] = module = types.ModuleType(name)
            module.__dict__.update(attributes)

    def __exit__(self, *error: object) -> None:
        for name in self._stubs:
            sys.modules.pop(name, None)
        sys.modules.update(self._before)


class _NoMesh:
    """A mesh without devices, with the attributes that C++ reads."""

    size = 1
    _internal_device_list = None


def _touch_every_lookup(device: Any) -> None:
    import numpy as np

    from . import bindings as b

    one = np.zeros(_Placeholder.shape, np.uint8)
    sharding = b.SingleDeviceSharding(device)
    array = b.batched_device_put(_Placeholder(one.dtype), sharding, [one], [device], False)
    b.dlpack_managed_tensor_to_buffer(b.buffer_to_dlpack_managed_tensor(array), device, None)
    if b.shard_args is not None:
        keep = b.ArrayCopySemantics.REUSE_INPUT
        b.shard_args([sharding], [None], [keep], [one], None)


class _Placeholder:
    """The aval of the one array that priming needs, of a shape that no program has."""

    shape = (1,) * 31
    weak_type = False

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype


def is_primed() -> bool:
    """Return whether C++ has already made its look-ups."""
    return _primed
