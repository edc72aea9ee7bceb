"""Traces of the process and its devices for XProf, TensorBoard and Perfetto, and their servers."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from dovetail_backends import backend
from dovetail_base import arguments
from dovetail_base.source import called, here, short_repr
from dovetail_xla import profiling
from dovetail_xla.profiling import (
    ProfileData as ProfileData,
    ProfileEvent as ProfileEvent,
    ProfileOptions as ProfileOptions,
    ProfilePlane as ProfilePlane,
    Session,
    describe_session,
)
from dovetail_xla.version import JAXLIB_VERSION


@dataclass(frozen=True)
class _Running:
    """The trace that is being taken.

    Attributes:
        folder: the user's folder. files: the folder below it for the files.
        location: the user's line that started it.
    """

    session: Session
    folder: Path
    files: Path
    perfetto: bool
    link: bool
    location: str


_running: _Running | None = None
_lock = threading.Lock()


def start_trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> None:
    """Start a trace of the process and its devices, until :func:`stop_trace`.

    Args:
        log_dir: the folder below which the files are written, in ``plugins/profile/<time>``:
            ``*.xplane.pb`` for XProf and TensorBoard, ``*.trace.json.gz`` for Perfetto. It is made
            if it does not exist.
        create_perfetto_link: at the end print a link that opens the trace in ui.perfetto.dev, and
            wait until it has been followed.
        create_perfetto_trace: write ``perfetto_trace.json.gz``, too.
        profiler_options: options of the recording (``python_tracer_level=0``: no Python functions).

    Raises:
        RuntimeError: a trace is being taken already; names the line that started it.
        OSError: nothing can be written there.
        TypeError, ValueError: ``log_dir`` is no path of this machine, or the options are none.
    """
    global _running
    folder = _folder(log_dir)
    options = _options(profiler_options)
    with _lock:
        if _running is not None:
            raise RuntimeError(
                f"a trace into {str(_running.folder)!r}, begun{_running.location}, is being taken"
                f"{called()}, and there can be one at a time. End it with stop_trace()."
            )
        _prepare(folder)
        client = backend().client  # one that starts during a trace would not be in it
        versions = {f"{client.platform}_version": client.platform_version}
        describe_session({"jaxlib_version": ".".join(map(str, JAXLIB_VERSION)), **versions})
        link, perfetto = bool(create_perfetto_link), bool(create_perfetto_trace)
        session, files = _begin(options, folder)
        _running = _Running(session, folder, files, perfetto or link, link, here())


def stop_trace() -> None:
    """End the trace that :func:`start_trace` began, and write its files.

    Raises:
        RuntimeError: no trace is being taken, or its files cannot be written.
    """
    global _running
    with _lock:
        result, _running = _running, None
        if result is None:
            raise RuntimeError(
                f"no trace is being taken{called()}: begin one with start_trace(log_dir), or use "
                "'with trace(log_dir):'."
            )
        try:
            result.session.stop_and_export(str(result.folder))
        except RuntimeError as e:
            raise RuntimeError(
                f"the trace begun{result.location} cannot be written into {str(result.folder)!r}"
                f"{called()}: {e}"
            ) from e
        if result.perfetto:
            written = _perfetto(result.files)
            if result.link:
                from .perfetto import serve

                serve(written)


@contextmanager
def trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> Iterator[None]:
    """Context manager: a trace of what happens inside (see :func:`start_trace`)."""
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def _folder(log_dir: Any) -> Path:
    try:
        path = os.fsdecode(log_dir)
    except TypeError:
        raise TypeError(
            f"log_dir must be a path, got {short_repr(log_dir)} of type {type(log_dir).__name__}"
            f"{called()}"
        ) from None
    if "://" in path:
        raise ValueError(f"log_dir must be a folder of this machine, got {path!r}{called()}")
    return Path(path).absolute()


def _options(given: Any) -> ProfileOptions:
    if given is None:
        return ProfileOptions()
    if not isinstance(given, ProfileOptions):
        raise TypeError(
            f"profiler_options must be ProfileOptions, got {short_repr(given)} of type "
            f"{type(given).__name__}{called()}"
        )
    return given


def _prepare(folder: Path) -> None:
    """Make the folder, so that errors are raised before the recorded work and not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "no permission to write")
    except OSError as e:
        raise type(e)(
            e.errno, f"a trace cannot be written there{called()}: {e.strerror}", str(folder)
        ) from None


def _begin(options: ProfileOptions, folder: Path) -> tuple[Session, Path]:
    """The session, and the folder of its files: a new one unless the options name it.

    The runtime's own names are times in seconds, so that it would overwrite a trace of the same
    second.
    """
    runs, given = folder / "plugins" / "profile", options.session_id
    if given:
        return Session(options), runs / given
    now = time.strftime("%Y_%m_%d_%H_%M_%S")
    names = (now if n == 1 else f"{now}_{n}" for n in count(1))
    options.session_id = next(name for name in names if not (runs / name).exists())
    try:
        return Session(options), runs / options.session_id
    finally:
        options.session_id = given


def _perfetto(files: Path) -> Path:
    """The trace, copied to the name that Perfetto's users expect."""
    written = files / "perfetto_trace.json.gz"
    shutil.copyfile(next(files.glob("*.trace.json.gz")), written)
    return written


_server: Any = None
_server_lock = threading.Lock()


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Let tools fetch profiles of this process from ``port``, until :func:`stop_server`.

    Args:
        requires_backend: start the default backend first, so that its devices are in profiles.

    Returns: the server, which lives until it is stopped.

    Raises:
        ValueError: there is a server already, or the number is no port.
        OSError: the port is taken.
    """
    global _server
    number = arguments.integer("port", port)
    if not 0 < number < 65536:
        raise ValueError(f"port must be a number between 1 and 65535, got {number}{called()}")
    with _server_lock:
        if _server is not None:
            raise ValueError(
                f"a server for profiles is running{called()}, and there can be one at a time. End "
                "it with stop_server()."
            )
        _check_free(number)
        if requires_backend:
            backend().local_devices()
        _server = profiling.start_server(number)
        return _server


def _check_free(port: int) -> None:
    """Refuse a port that is taken: the runtime only logs that it cannot have it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as e:
            raise OSError(
                e.errno, f"port {port} cannot be used{called()} ({e.strerror}): choose another one"
            ) from None


def stop_server() -> None:
    """End the server that :func:`start_server` began.

    Raises:
        ValueError: there is none.
    """
    global _server
    with _server_lock:
        if _server is None:
            raise ValueError(
                f"no server for profiles is running{called()}: begin one with start_server(port)"
            )
        _server = None


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Let profiles of this process hold those of process ``pid``, whose server is at ``port``.

    Returns: a function that undoes it.

    Raises:
        RuntimeError: the runtime refuses, for example a process that is registered already.
    """
    return profiling.register_subprocess(
        arguments.integer("pid", pid), arguments.integer("port", port)
    )
