"""The position of this process among others, given by the caller or by the launcher."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, replace
from typing import Protocol

from dovetail_base import arguments
from dovetail_base.source import here
from dovetail_core import registry

COLLECTION = "distributed.detectors"


@dataclass(frozen=True)
class Place:
    """The position of a process among others, as far as it is known.

    Attributes:
        job: an identifier that a job's processes share, and other jobs' do not.
    """

    coordinator_address: str | None = None
    num_processes: int | None = None
    process_id: int | None = None
    local_device_ids: tuple[int, ...] | None = None
    job: str | None = None

    @property
    def is_complete(self) -> bool:
        known = (self.coordinator_address, self.num_processes, self.process_id)
        return None not in known


class Detector(Protocol):
    """Reads a process's position from its launcher. A plugin names its detectors in its manifest:
    ``members={"distributed.detectors.acme": "dovetail_acme.launcher:Acme"}``.

    Attributes:
        rank: detectors of lower rank are tried first. only_named: True if it is used only by its
            name (``cluster_detection_method``).
    """

    rank: int
    only_named: bool

    def is_present(self) -> bool:
        """True if the launcher started this process. It is quick, and imports nothing heavy."""
        ...

    def place(self, timeout: float) -> Place:
        """This process's position; raises ValueError if something does not fit."""
        ...


def find_position(given: Place, method: str | None, timeout: float) -> Place:
    """The given position, completed by a detector.

    Raises:
        ValueError: it is not complete.
    """
    result = given
    if not (given.is_complete and given.local_device_ids is not None) and method != "deactivate":
        result = _completed(given, method, timeout)
    _check(result)
    return result


def _completed(given: Place, method: str | None, timeout: float) -> Place:
    name, detector = _detector(method)
    if detector is None or (given.is_complete and method is None and name == "mpi4py"):
        return given
    if given.is_complete:  # the launcher may still know the devices
        try:
            devices = detector.place(timeout).local_device_ids
        except (ValueError, OSError):
            return given
        return replace(given, local_device_ids=devices)
    values = {k: v for k, v in vars(given).items() if v is not None}
    return replace(detector.place(timeout), **values)


def _detector(method: str | None) -> tuple[str, Detector | None]:
    """The detector of a name, or the first whose launcher is present."""
    names = registry().members(COLLECTION)
    if method is not None:
        if method not in names:
            raise ValueError(
                f"cluster_detection_method is {method!r}{here()}; there are "
                f"{', '.join(sorted(names))} and deactivate."
            )
        result: Detector = registry().member(COLLECTION, method)()
        if not result.is_present():
            raise ValueError(
                f"cluster_detection_method is {method!r}{here()}, and this process was not started "
                "by that: its environment variables are not set."
            )
        return method, result
    pairs: list[tuple[str, Detector]] = [(n, registry().member(COLLECTION, n)()) for n in names]
    for name, detector in sorted(pairs, key=lambda m: (m[1].rank, m[0])):
        if not detector.only_named and detector.is_present():
            return name, detector
    return "", None


def _check(position: Place) -> None:
    lacking = [
        n
        for n in ("coordinator_address", "num_processes", "process_id")
        if getattr(position, n) is None
    ]
    if lacking:
        raise ValueError(
            f"distributed.initialize{here()} lacks {', '.join(lacking)}, and nothing is found that "
            "started this process as one of several. Give them, or start the program by 'dovetail "
            "launch', srun, mpirun or a Kubernetes job."
        )
    count = arguments.integer("num_processes", position.num_processes)
    index = arguments.integer("process_id", position.process_id)
    if not 0 <= index < count:
        raise ValueError(
            f"distributed.initialize{here()}: process_id is {index!r} and num_processes {count!r}; "
            "processes are numbered from 0."
        )


_FIRST, _COUNT = 20000, 12000  # below those that systems give away (32768 and above)


def port_of(job: object) -> int:
    """A port from the name or number of a job: jobs on one machine seldom have the same."""
    return _FIRST + zlib.crc32(str(job).encode()) % _COUNT


def integer(name: str) -> int:
    """An integer from an environment variable.

    Raises:
        ValueError: it is not set, or no integer.
    """
    given = os.environ.get(name)
    try:
        return int(given or "")
    except ValueError:
        raise ValueError(
            f"the environment variable {name} is {given!r}; an integer is expected"
        ) from None
