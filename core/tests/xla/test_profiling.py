"""The runtime's profiler through the adapter."""

from __future__ import annotations

from dovetail_xla import client, profiling


def test_a_session_gives_what_happened_inside():
    session = profiling.Session()
    with profiling.TraceMe("region", step=3):
        pass
    data = profiling.ProfileData.from_serialized_xspace(session.stop())
    result = {e.name: dict(e.stats) for p in data.planes for line in p.lines for e in line.events}
    assert result["region"] == {"step": 3}


def test_profilers_of_plugins_take_part_once_each(monkeypatch):
    heard = []
    monkeypatch.setattr(client, "_plugins", {"one": "capsule 1", "two": "capsule 2"})
    monkeypatch.setattr(profiling, "_registered", set())
    monkeypatch.setattr(profiling._profiler, "register_plugin_profiler", heard.append)
    profiling._register_plugins()
    profiling._register_plugins()
    assert heard == ["capsule 1", "capsule 2"]


def test_a_heap_profile_is_a_protocol_buffer():
    result = profiling.pprof_profile_to_json(profiling.heap_profile(client.make_cpu_client()))
    assert '"sampleType"' in result
