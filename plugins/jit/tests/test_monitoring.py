"""Listeners hear what is recorded, in order, and what the stages of compilation take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import config
from dovetail_jit import clear_caches, jit, monitoring

KINDS = {
    "event": (monitoring.record_event, (), "event"),
    "duration": (monitoring.record_event_duration_secs, (0.5,), "event_duration"),
    "span": (monitoring.record_event_time_span, (1.0, 2.0), "event_time_span"),
    "scalar": (monitoring.record_scalar, (3,), "scalar"),
}


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    yield
    monitoring.clear_event_listeners()


def register(kind: str, listener: Any) -> None:
    more = "_duration_secs" if kind == "duration" else "_time_span" if kind == "span" else ""
    name = f"register_event{more}_listener" if kind != "scalar" else "register_scalar_listener"
    getattr(monitoring, name)(listener)


@pytest.mark.parametrize("kind", KINDS)
def test_listeners_hear_their_kind_of_event_in_order(kind: str):
    heard: list[Any] = []
    record, values, name = KINDS[kind]
    listeners = [lambda *a, i=i, **k: heard.append((i, a, k)) for i in range(2)]
    for one in listeners:
        register(kind, one)
    record("mine", *values, where="here")
    assert heard == [(i, ("mine", *values), {"where": "here"}) for i in range(2)]
    getattr(monitoring, f"unregister_{name}_listener")(listeners[0])
    record("mine", *values)
    assert [i for i, _, _ in heard] == [0, 1, 1]
    with pytest.raises(ValueError, match="is not registered in unregister_"):
        getattr(monitoring, f"unregister_{name}_listener")(listeners[0])
    monitoring.clear_event_listeners()
    record("mine", *values)
    assert len(heard) == 3


def test_compilation_tells_what_it_takes():
    heard: dict[str, float] = {}
    monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: heard.setdefault(event.rpartition("/")[2], seconds)
    )
    jit(lambda x: lax.sin(lax.exp(x)))(np.float32(0.25))
    wanted = ["jaxpr_trace_duration", "jaxpr_to_mlir_module_duration", "backend_compile_duration"]
    assert set(wanted) <= set(heard) and all(0 < heard[e] < 60 for e in wanted)


def test_a_listener_can_be_called():
    with pytest.raises(TypeError, match="callback must be a function, got 3 of type int"):
        monitoring.register_event_listener(3)  # type: ignore[arg-type]


def test_the_disk_cache_tells_of_hits_and_misses(tmp_path: Path):
    heard: list[str] = []
    monitoring.register_event_listener(lambda event, **_: heard.append(event.rpartition("/")[2]))
    f = lambda x: lax.cos(lax.exp(x))  # noqa: E731
    config.update("compilation_cache_dir", str(tmp_path))
    try:
        for _ in range(2):
            clear_caches()
            jit(f)(np.float32(0.25))
    finally:
        config.update("compilation_cache_dir", None)
    request = "compile_requests_use_cache"
    assert heard == [request, "cache_misses", request, "cache_hits"]
