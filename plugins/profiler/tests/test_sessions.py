"""Traces: what is written, what is in it, and what is said of misuse."""

from __future__ import annotations

import gzip
import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_profiler as profiler
from dovetail_jit import jit
from dovetail_profiler import perfetto, sessions

X = np.linspace(0.1, 1.0, 64, dtype=np.float32).reshape(8, 8)


@pytest.fixture(autouse=True)
def no_trace_is_left() -> Iterator[None]:
    yield
    if sessions._running is not None:
        profiler.stop_trace()


@jit
def wave(x: Any) -> Any:
    return lax.sin(lax.dot(x, x))


def events(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    return read(file)


def read(file: Path) -> list[dict[str, Any]]:
    result = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return [e for e in result if e]  # jaxlib ends the list with an empty one


def planes(folder: Path) -> Any:
    (file,) = folder.glob("plugins/profile/*/*.xplane.pb")
    return profiler.ProfileData.from_file(str(file))


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace with annotations, steps and a decorated function."""
    folder = tmp_path_factory.mktemp("trace") / "new" / "folder"

    @profiler.annotate_function
    def decorated() -> Any:
        return wave(X)

    def plain() -> Any:
        return wave(X)

    wave(X)
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0
    with profiler.trace(folder, create_perfetto_trace=True, profiler_options=options):
        with profiler.TraceAnnotation("loading", epoch=3):
            wave(X).block_until_ready()
        with profiler.StepTraceAnnotation("train", step_num=7):
            wave(X).block_until_ready()
        decorated().block_until_ready()
        profiler.annotate_function(plain, name="named", kind="k")().block_until_ready()
    return folder


def test_the_trace_for_perfetto_has_annotations_calls_and_operations(taken: Path) -> None:
    result = {e["name"]: e for e in events(taken)}
    assert result["loading"]["ph"] == "X" and result["loading"]["args"] == {"epoch": "3"}
    assert result["train"]["args"]["step_num"] == "7"
    assert any(n.endswith("taken.<locals>.decorated") for n in result)
    assert result["named"]["args"] == {"kind": "k"}
    assert "PjitFunction(wave)" in result
    of_wave = [e for e in result.values() if e.get("args", {}).get("hlo_module") == "jit_wave"]
    assert any("sine" in e["name"] for e in of_wave)


def test_an_annotation_lasts_as_long_as_what_is_in_it(taken: Path) -> None:
    spans = [e for e in events(taken) if e["ph"] == "X"]
    (outer,) = [e for e in spans if e["name"] == "loading"]
    start, end = outer["ts"], outer["ts"] + outer["dur"]
    inner = [e for e in spans if e["name"] == "PjitFunction(wave)"]
    assert any(start <= e["ts"] and e["ts"] + e["dur"] <= end for e in inner)


def test_the_trace_for_xprof_has_the_same(taken: Path) -> None:
    data = planes(taken)
    host = data.find_plane_with_name("/host:CPU")
    names = {e.name for line in host.lines for e in line.events}
    assert {"loading", "train", "PjitFunction(wave)"} <= names
    assert any(p.name == "/host:metadata" for p in data.planes)


def test_perfetto_gets_a_file_of_its_own_name(taken: Path) -> None:
    (copy,) = taken.glob("plugins/profile/*/perfetto_trace.json.gz")
    assert read(copy) == events(taken)


def test_python_functions_are_in_a_trace_unless_they_are_left_out(tmp_path: Path) -> None:
    def spoken() -> None: ...

    with profiler.trace(str(tmp_path)):
        spoken()
    assert any("spoken" in e.get("name", "") for e in events(tmp_path))


def test_a_trace_that_is_interrupted_is_written(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), profiler.trace(tmp_path):
        raise ZeroDivisionError
    assert events(tmp_path)
    with pytest.raises(RuntimeError, match=r"no trace is being taken in stop_trace at .*begin one"):
        profiler.stop_trace()


def test_traces_of_one_second_are_all_kept(tmp_path: Path) -> None:
    options = profiler.ProfileOptions()
    for _ in range(3):
        with profiler.trace(tmp_path, profiler_options=options):
            pass
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 3
    assert options.session_id == ""
    options.session_id = "mine"
    with profiler.trace(tmp_path, create_perfetto_trace=True, profiler_options=options):
        pass
    (copy,) = tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz")
    assert copy.parent.name == "mine"


def test_two_at_a_time(tmp_path: Path) -> None:
    profiler.start_trace(tmp_path / "one")
    said = (
        r"a trace into '.*one', begun at .*test_sessions.py:\d+ .*, is being taken in start_trace "
        r"at .*, and there can be one at a time. End it with stop_trace\(\)."
    )
    with pytest.raises(RuntimeError, match=said):
        profiler.start_trace(tmp_path / "two")
    profiler.stop_trace()
    assert events(tmp_path / "one") and not (tmp_path / "two").exists()


def test_a_folder_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"a trace cannot be written there in start_trace at"):
        profiler.start_trace(tmp_path / "file")
    with pytest.raises(NotADirectoryError, match="a trace cannot be written there in start_trace"):
        profiler.start_trace(tmp_path / "file" / "below")
    with pytest.raises(RuntimeError, match="no trace is being taken"):
        profiler.stop_trace()


def test_a_folder_that_goes_away_meanwhile(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "gone"
    profiler.start_trace(folder)
    folder.rmdir()
    folder.write_text("")
    with pytest.raises(
        RuntimeError, match=r"the trace begun at .* cannot be written into '.*gone'"
    ):
        profiler.stop_trace()
    with profiler.trace(tmp_path / "next"):
        pass
    assert events(tmp_path / "next")


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="log_dir must be a path, got 3 of type int in start_trace"):
        profiler.start_trace(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a folder of this machine, got 'gs://x' in start"):
        profiler.start_trace("gs://x")
    with pytest.raises(TypeError, match=r"profiler_options must be ProfileOptions, got \{\} of"):
        profiler.start_trace("x", profiler_options={})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of an annotation is a string, got 3 of type int"):
        profiler.TraceAnnotation(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of an annotation is a string, got 3 of type int"):
        profiler.annotate_function(len, name=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="func must be a function, got 3 of type int in annotate_"):
        profiler.annotate_function(3)  # type: ignore[arg-type]


def test_a_decorated_function_is_as_it_was() -> None:
    @profiler.annotate_function
    def f(x: int, *, y: int = 2) -> int:
        """Adds."""
        return x + y

    assert f(1, y=4) == 5 and f(1) == 3 and (f.__name__, f.__doc__) == ("f", "Adds.")


def test_a_link_for_perfetto_serves_the_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: Queue[str] = Queue()  # what is captured by pytest while a thread prints may be lost
    monkeypatch.setattr(perfetto, "print", lambda line, flush: lines.put(line), raising=False)
    file = tmp_path / "perfetto_trace.json.gz"
    file.write_bytes(b"content")
    server = threading.Thread(target=perfetto.serve, args=(file, 0))
    server.start()
    shown = lines.get(timeout=60)
    assert shown.startswith("Open URL in browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1")
    address = shown.strip().partition("url=")[2]
    with pytest.raises(urllib.error.HTTPError):  # anything else is not there, and does not end it
        urllib.request.urlopen(f"{address.rpartition('/')[0]}/other")
    with urllib.request.urlopen(address) as answer:
        assert answer.read() == b"content"
        assert answer.headers["Access-Control-Allow-Origin"] == "https://ui.perfetto.dev"
    server.join(10)
    assert not server.is_alive()


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            OSError, match=f"port {port}, from which Perfetto fetches traces, cannot"
        ):
            perfetto.serve(tmp_path / "file", port)
