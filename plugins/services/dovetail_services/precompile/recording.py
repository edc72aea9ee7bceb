"""Recording of compiled programs in the file."""

from __future__ import annotations

import re
import threading
import warnings
from typing import Any

from dovetail_base.source import here
from dovetail_core import Option, hookimpl

from .entry import Entry, Parts, encode, flags_now, versions_now
from .file import Appender

# Their operands are addresses of functions in this process.
_OF_THIS_PROCESS = re.compile(r"\b(InspectSharding|CustomSPMDPartitioning)\b")


class Recorder:
    """The hook that adds each compiled program to the file that an option names."""

    def __init__(self, option: Option) -> None:
        self._option = option
        self._files: dict[str, Appender] = {}
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    @hookimpl
    def dovetail_compiled(self, executable: Any) -> None:
        """A program was compiled, or read from the cache."""
        path = self._option.value
        if path is None or executable.profile != "default":
            return
        if _OF_THIS_PROCESS.search(executable.module.text):
            return
        key, line = encode(entry_of(executable))
        with self._lock:
            file = self._files.setdefault(path, Appender(path))
        try:
            file.add(key, line)
        except OSError as e:
            self._warn_once(path, e)

    def _warn_once(self, path: str, error: OSError) -> None:
        if path not in self._warned:
            self._warned.add(path)
            warnings.warn(
                f"what is compiled is not recorded in {path} ({error.strerror or error}){here()}; "
                "programs run all the same. Set record_compiles to a file that can be written to.",
                RuntimeWarning,
                stacklevel=2,
            )


def entry_of(executable: Any) -> Entry:
    """The facts that are recorded of an executable."""
    module = executable.module
    partition, parts = module.partition, None
    devices = (executable.device.id,)
    if partition is not None:
        devices = tuple(partition.ids)
        ins, outs = (tuple([s is None for s in x]) for x in (partition.ins, partition.outs))
        parts = Parts(ins, outs, tuple(map(bool, module.kept)), len(module.const_args))
    return Entry(
        module.name, module.platform, module.text, devices,
        executable.device.client.device_count(), parts, len(module.host_callbacks),
        dict(executable.options), flags_now(), **versions_now(),
    )  # fmt: skip
