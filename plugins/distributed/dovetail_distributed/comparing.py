"""Comparison of programs and values among processes, before they wait for each other in vain.

Each comparison of a group of processes has a number, under which a process stores what it does. It
waits until all of the group have, and checks that all are equal: three messages to process 0, a
millisecond on one machine. Equal comparisons are not repeated.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from dovetail_base.source import here, user_source
from dovetail_xla.arrays import XlaRuntimeError

from .keys import KeyValueStore, client
from .options import compare_processes, compare_timeout
from .state import global_state
from .watch.ending import say

_store = KeyValueStore("compare")
_counts: dict[str, int] = {}
_known: set[tuple[str, str]] = set()
_lock = threading.Lock()
_NOTICE_AFTER = 20.0
"""Seconds after which a process that waits prints a message."""


def compare_program(what: str, text: str, devices: Iterable[Any]) -> None:
    """Raise unless all processes of the devices run the same program next.

    Args:
        what: the program's name and argument types. text: the text of the program.

    Raises:
        RuntimeError: they do not; names the program of each process.
        TimeoutError: some run none; names them and their lines.
    """
    group = _group(devices)
    if group is None:
        return
    name, digest = _name_of(group), _digest(text.encode())
    if (name, digest) not in _known:
        result = _exchange(group, digest, f"runs {what}")
        if result:
            raise RuntimeError(
                f"processes run different programs{here()}: {result}. On devices that they share, "
                "all processes must run the same programs in the same order (the option "
                "compare_processes)."
            )
        _known.add((name, digest))


def compare_value(what: str, value: np.ndarray[Any, Any], devices: Iterable[Any]) -> None:
    """Raise unless all processes of the devices give the same value.

    Raises:
        AssertionError: the values differ. TimeoutError: some processes give none.
    """
    group = _group(devices)
    if group is None:
        return
    data = np.ascontiguousarray(value)
    digest = _digest(f"{data.dtype}{data.shape}".encode(), data.view(np.uint8).data)
    text = np.array2string(data, threshold=8, edgeitems=2).replace("\n", "")
    result = _exchange(group, digest, f"gives {what} {text:.200} of {data.dtype}{list(data.shape)}")
    if result:
        raise AssertionError(
            f"{what}{here()}: the value is not the same in all processes: {result}. Give the same "
            "in each, or the parts that differ to make_array_from_process_local_data."
        )


def compare_text(what: str, *data: bytes) -> str:
    """A text with ``what`` of each process if ``data`` differ; else an empty string."""
    return _exchange(list(range(global_state.num_processes)), _digest(*data), what)


def _group(devices: Iterable[Any]) -> list[int] | None:
    """The processes of some devices; None if there is nothing to compare."""
    if global_state.client is None or not compare_processes.value:
        return None
    result = sorted({d.process_index for d in devices})
    return result if len(result) > 1 and global_state.process_id in result else None


def _name_of(group: list[int]) -> str:
    if len(group) == global_state.num_processes:
        return "all"
    return _digest(repr(group).encode())


def _digest(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _exchange(group: list[int], digest: str, what: str) -> str:
    """Compare ``digest``; returns a text with ``what`` of each process if they differ."""
    me, name = global_state.process_id, _name_of(group)
    with _lock:
        number = _counts[name] = _counts.get(name, 0) + 1
    entry = f"{name}/{number}"
    source = user_source()
    at = f" at {source.filename}:{source.line}" if source is not None else ""
    _store.set(f"{entry}/{me}", json.dumps([digest, f"process {me} {what}{at}"]))
    same = _store.increment(f"{entry}-{digest}")
    _wait(entry, group, f"{what}{at}")
    if same < len(group):  # others may have arrived since
        same = _store.increment(f"{entry}-{digest}", 0)
    if same < len(group):
        result: list[list[str]] = [json.loads(v) for v in _store.items(entry).values()]
        return _different(result)
    if me == group[0] and number > 1:  # all have read the entry before
        before = f"{name}/{number - 1}"
        _store.delete(before)
    return ""


def _different(entries: list[list[str]]) -> str:
    """The text of one process for each digest."""
    first: dict[str, str] = {}
    for digest, what in entries:
        first.setdefault(digest, what)
    texts = list(first.values())
    if len({t.partition(" at ")[0].partition(" ")[2].partition(" ")[2] for t in texts}) == 1:
        texts.append("of the same name and types, they compute different things")
    return "; ".join(texts)


def _wait(entry: str, group: list[int], what: str) -> None:
    seconds = compare_timeout.value
    notice = threading.Timer(_NOTICE_AFTER, lambda: say(f"{_waiting(entry, group, what)}."))
    notice.daemon = True
    notice.start()
    try:
        client().wait_at_barrier(f"dovetail/compare/{entry}", int(seconds * 1000), group)
    except XlaRuntimeError as e:
        if "DEADLINE_EXCEEDED" not in str(e):
            raise
    else:
        return
    finally:
        notice.cancel()
    raise TimeoutError(
        f"{_waiting(entry, group, what)}{here()}. It gives up after {seconds:g} s "
        "(compare_timeout)."
    )


def _waiting(entry: str, group: list[int], what: str) -> str:
    """The message of a process that waits: its action, and the absent processes."""
    arrived = {int(k) for k in _store.items(entry)}
    member = global_state.member
    lines = {} if member is None else member.where_are()
    absent: list[str] = []
    for i in (i for i in group if i not in arrived):
        name, at = lines.get(i, (f"process {i}", ""))
        absent.append(f"{name}, which is at {at or 'an unknown line'}")
    return (
        f"process {global_state.process_id} {what}, and waits for others to do the same: "
        f"{'; '.join(absent)}"
    )
