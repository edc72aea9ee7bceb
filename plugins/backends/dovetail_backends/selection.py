"""Backends: their protocol, and the choice of a computation's backend and device."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from dovetail_base import arguments
from dovetail_core import (
    Cache,
    ClosedJaxpr,
    Eqn,
    Option,
    RegistryError,
    Unsupported,
    cached,
    config,
    describe_source,
    here,
    programs,
    registry,
)
from dovetail_xla.client import Device

from .pjrt.backend import PjrtBackend
from .tables import FAMILIES


class Backend(Protocol):
    """A runtime for programs. A plugin names its backends in its manifest (``backends``).

    A backend that compiles StableHLO through PJRT is a ``PjrtBackend``. Any other one also has
    ``run(program, args)``, which returns the results of a ``ClosedJaxpr`` as arrays, or
    ``compile(program)``, which returns a function of ``args`` that does so and is called once for
    each program. ``jit(f, backend=...)`` calls it, after all passes; it cannot be the default.

    Attributes:
        platform: its name, as in the manifest.
        priority: the usable backend of highest priority is the default; negative ones never are.

    An optional attribute ``lacks`` is a set of names of element types that the backend does not
    support: programs with such values are refused (``Unsupported``). For other programs that it
    does not support the backend raises that error itself, from ``run`` or ``compile``.
    """

    platform: str
    priority: int

    def problem(self) -> str:
        """Why it cannot be used here and the remedy, or an empty string; starts nothing."""
        ...

    def devices(self) -> list[Any]:
        """All its devices; starts it. RuntimeError with a remedy where that fails."""
        ...

    def local_devices(self) -> list[Any]:
        """The devices attached to this process."""
        ...


def _backend_problem(thing: Any) -> str:
    """The reason why an object that a manifest names is not a backend, or an empty string."""
    methods = ("problem", "devices", "local_devices")
    lacks = [n for n in methods if not callable(getattr(thing, n, None))]
    lacks += [n for n in ("platform", "priority") if not hasattr(thing, n)]
    if lacks:
        return f"it is a {type(thing).__name__}, and no backend: it has no {', '.join(lacks)}"
    good = isinstance(thing.platform, str) and isinstance(thing.priority, int)
    return "" if good else "its platform must be a string and its priority an integer"


def runs_programs(backend: Any) -> bool:
    """True if a backend takes programs instead of modules for PJRT."""
    own = hasattr(backend, "run") or hasattr(backend, "compile")
    return own and not isinstance(backend, PjrtBackend)


def _device_or_platform(value: Any) -> Any:
    if value is None or isinstance(value, Device):
        return value
    if isinstance(value, str):
        if conflict := _name_conflict(value):
            raise ValueError(conflict)
        names = sorted({*registry().entries("backends"), *FAMILIES})
        if value not in names:
            raise ValueError(f"Unknown backend {value!r}; there are {', '.join(names)}")
        return value
    raise ValueError(
        "expected a device (dovetail.devices()[0]), a platform's name ('cpu') or None, got "
        f"{value!r}"
    )


def _split(names: str | None) -> list[str]:
    return [n.strip() for n in (names or "").split(",") if n.strip()]


def _platform_names(value: Any) -> str | None:
    return ",".join(_split(value)) or None


default_device = config.add(
    Option(
        "default_device", None, "The device that new arrays and computations go to.",
        check=_device_or_platform, traced=True,
    )
)  # fmt: skip
platforms = config.add(
    Option(
        "platforms", None, "Comma-separated names of the backends that may be used, best first.",
        check=_platform_names, traced=True,
    )
)  # fmt: skip

_by_name: Cache[tuple[str, str | None], tuple[Any, Backend]] = Cache()
"""Backends by name and option, each with the registry that has it."""
_working: set[Backend] = set()
"""Backends whose ``problem`` was called and is empty."""


def backend(platform: str | None = None) -> Any:
    """The backend of a platform (``"gpu"`` is either kind), or the default one.

    Raises:
        RuntimeError: the platform is unknown or not usable here; says why and what to install.
    """
    allowed = platforms.value
    if platform is not None:
        arguments.string("backend", platform)
        entry = _by_name.get((platform, allowed))
        if entry is None or entry[0] is not registry():
            entry = _by_name[platform, allowed] = registry(), _named(platform)
        return entry[1]
    return _best(allowed)


def _name_conflict(platform: str) -> str:
    """The message about several plugins that have backends of one name, or an empty string."""
    clashes = registry().clashes
    result = [clashes.get(("backends", n), "") for n in FAMILIES.get(platform, (platform,))]
    return next(filter(None, result), "")


def _members(platform: str) -> list[str]:
    """The installed backends of a name, which may be that of a family.

    Raises:
        RuntimeError: there are none; lists the names.
        RegistryError: several plugins have backends of this name; names them.
    """
    if conflict := _name_conflict(platform):
        raise RegistryError(conflict)
    installed = registry().entries("backends")
    result = [n for n in FAMILIES.get(platform, (platform,)) if n in installed]
    if not result:
        names = ", ".join(sorted({*installed, *FAMILIES}))
        raise RuntimeError(f"Unknown backend {platform!r}{here()}; there are {names}.")
    return result


def _named(platform: str) -> Backend:
    allowed = _split(platforms.value)
    problems: list[str] = []
    for name in _members(platform):
        if allowed and name not in allowed and platform not in allowed:
            problems.append(f"the option 'platforms' allows only {platforms.value!r}")
            continue
        result: Backend = registry().backend(name)
        problem = "" if result in _working else result.problem()
        if not problem:
            _working.add(result)
            return result
        problems.append(problem)
    installed: list[Backend] = [registry().backend(n) for n in registry().entries("backends")]
    present = ", ".join([b.platform for b in installed if b.priority >= 0 and not b.problem()])
    raise RuntimeError(
        f"Unknown backend: {platform!r} requested, but {platform!r} is not available: "
        f"{'; '.join(dict.fromkeys(problems))}. Platforms present: {present or 'none'}"
    )


@cached(permanent="a process chooses its backend once: arrays live there")
def _best(allowed: str | None) -> Backend:
    candidates = _ranked(allowed)
    failed: dict[str, str] = {}
    for candidate in candidates:
        if getattr(candidate, "hidden", str)():  # no hardware: what is installed does not matter
            continue
        problem = candidate.problem()
        notice = getattr(candidate, "notice", str)() if problem else _starting(candidate)
        if not problem and not notice:
            return candidate
        failed[candidate.platform] = notice
        if notice and allowed is None:
            warnings.warn(
                f"{notice.removesuffix('.')}. Going on without it (DOVETAIL_PLATFORMS=cpu asks for "
                "that silently).",
                RuntimeWarning,
                stacklevel=2,
            )
    reasons = [f"{c.platform}: {c.problem() or failed[c.platform]}" for c in candidates]
    among = f" among {allowed!r} (option platforms)" if allowed else ""
    raise RuntimeError(
        f"{f'Unable to initialize backend {allowed!r}: ' if allowed else ''}no backend is usable"
        f"{among}. "
        f"{'; '.join(reasons) or 'The plugin backends provides cpu: is it disabled?'}"
    )


def _ranked(allowed: str | None) -> list[Backend]:
    """The candidates for the default backend, best first."""
    if allowed:
        named = [registry().backend(n) for a in _split(allowed) for n in _members(a)]
        if all(map(runs_programs, named)):
            raise RuntimeError(
                f"the option platforms is {allowed!r}, and no default among these: a backend that "
                "runs whole programs computes no single operations. Add one that does ('cpu'), and "
                "ask for the other by jit(f, backend=...)."
            )
        return [b for b in named if not runs_programs(b)]
    result: list[Backend] = registry().load_all("backends", _backend_problem)
    for b in result:
        if b.priority >= 0 and runs_programs(b):
            warnings.warn(
                f"backend {b.platform!r} has priority {b.priority}, and cannot be the default: it "
                "runs whole programs and no single operations. Give it a negative priority, and "
                f"ask for it by jit(f, backend={b.platform!r}).",
                RuntimeWarning,
                stacklevel=2,
            )
    usable = [b for b in result if b.priority >= 0 and not runs_programs(b)]
    return sorted(usable, key=lambda b: -b.priority)


def _starting(candidate: Backend) -> str:
    """The reason why a backend for accelerators does not start, or an empty string."""
    if candidate.priority > 0:
        try:
            candidate.devices()
        except RuntimeError as e:
            return str(e)
    return ""


def target_device() -> Any:
    """The device for uncommitted work: the option ``default_device``, else the first local one."""
    chosen = default_device.value
    if chosen is None or isinstance(chosen, str):
        return _first_device(backend(chosen))
    return chosen


@cached(permanent="the devices of a process stay")
def _first_device(b: Backend) -> Any:
    return b.local_devices()[0]


def refuse_unsupported_dtypes(backend: Any, program: ClosedJaxpr, name: str) -> None:
    """Refuse a program with arrays of element types that a backend lacks (``Backend.lacks``).

    Args:
        name: of the function, for the message.

    Raises:
        Unsupported: names the backend, the element type, the operation and its source location.
    """
    lacks = frozenset(map(_name, getattr(backend, "lacks", ())))
    if not lacks:
        return
    for aval, eqn in _types(program):
        dtype = getattr(aval, "dtype", None)
        if dtype is not None and _name(dtype) in lacks:
            of = f", of {eqn.primitive.name!r}{describe_source(eqn.source)}" if eqn else ""
            raise Unsupported(
                f"backend {backend.platform!r} has no arrays of {_name(dtype)}, and {name} has a "
                f"value of type {aval.str_short()}{of}. Use another element type, or another "
                "backend."
            )


def _name(dtype: Any) -> str:
    if isinstance(dtype, str):
        return dtype
    return getattr(dtype, "name", None) or np.dtype(dtype).name


def _types(program: ClosedJaxpr) -> Iterator[tuple[Any, Eqn | None]]:
    """The types of a program's values, each with its equation, or None for inputs and results."""
    for aval in program.in_avals:
        yield aval, None
    for each in programs.walk_programs(program):
        for eqn in programs.open_program(each).eqns:
            for v in (*eqn.invars, *eqn.outvars):
                yield v.aval, eqn  # type: ignore[attr-defined]
    for aval in program.out_avals:
        yield aval, None
