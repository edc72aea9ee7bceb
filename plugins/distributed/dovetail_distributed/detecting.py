"""Which process of how many this is: said by the caller, or by what started it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from dovetail_base import arguments
from dovetail_base.source import here
from dovetail_core import registry

COLLECTION = "distributed.detectors"


@dataclass(frozen=True)
class Place:
    """The place of a process among others, as far as it is known.

    Attributes:
        job: a word that a job's processes have in common, and other jobs' do not have.
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
    """What knows how one launcher tells processes their places. A plugin names its detectors in its
    manifest: ``members={"distributed.detectors.acme": "dovetail_acme.launcher:Acme"}``.

    Attributes:
        rank: those of a lower rank are asked first. only_named: it is asked only where it is named
            (``cluster_detection_method``).
    """

    rank: int
    only_named: bool

    def is_present(self) -> bool:
        """Whether the launcher started this process. It is quick, and imports nothing heavy."""
        ...

    def place(self, timeout: float) -> Place:
        """This process's place; raises ValueError where something does not fit."""
        ...


def find_place(given: Place, method: str | None, timeout: float) -> Place:
    """What is given, completed by a detector.

    Raises:
        ValueError: it is not complete after all.
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
    if given.is_complete:  # of devices a launcher knows more, but it need not know of the others
        try:
            devices = detector.place(timeout).local_device_ids
        except (ValueError, OSError):
            return given
        return replace(given, local_device_ids=devices)
    known = {k: v for k, v in vars(given).items() if v is not None}
    return replace(detector.place(timeout), **known)


def _detector(method: str | None) -> tuple[str, Detector | None]:
    """The detector of that name, or the first that finds its launcher."""
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
    made: list[tuple[str, Detector]] = [(n, registry().member(COLLECTION, n)()) for n in names]
    for name, detector in sorted(made, key=lambda m: (m[1].rank, m[0])):
        if not detector.only_named and detector.is_present():
            return name, detector
    return "", None


def _check(place: Place) -> None:
    lacking = [
        n
        for n in ("coordinator_address", "num_processes", "process_id")
        if getattr(place, n) is None
    ]
    if lacking:
        raise ValueError(
            f"distributed.initialize{here()} lacks {', '.join(lacking)}, and nothing is found that "
            "started this process as one of several. Give them, or start the program by 'dovetail "
            "launch', srun, mpirun or a Kubernetes job."
        )
    count = arguments.integer("num_processes", place.num_processes)
    index = arguments.integer("process_id", place.process_id)
    if not 0 <= index < count:
        raise ValueError(
            f"distributed.initialize{here()}: process_id is {index!r} and num_processes {count!r}; "
            "processes are numbered from 0."
        )
