"""A server from which Perfetto in the browser fetches a trace."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

PORT = 9001
"""The one port of this machine that ui.perfetto.dev may fetch from."""


def serve(file: Path, port: int = PORT) -> None:
    """Print a link that opens ``file`` in ui.perfetto.dev, and serve the file once.

    Raises:
        OSError: the port is taken.
    """
    try:
        server = _Server(file, port)
    except OSError as e:
        raise OSError(
            e.errno,
            f"port {port}, from which Perfetto fetches traces, cannot be used ({e.strerror}): open "
            f"{str(file)!r} in ui.perfetto.dev by hand",
        ) from None
    with server:
        address = f"http://127.0.0.1:{server.server_port}/{file.name}"
        print(f"Open URL in browser: https://ui.perfetto.dev/#!/?url={address}", flush=True)
        while not server.given:
            server.handle_request()


class _Server(HTTPServer):
    """Serves one file on this machine alone."""

    def __init__(self, file: Path, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.file = file
        self.given = False


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        wanted = self.path == f"/{self.server.file.name}"
        content = self.server.file.read_bytes() if wanted else b""
        self.send_response(200 if wanted else 404)
        self.send_header("Access-Control-Allow-Origin", "https://ui.perfetto.dev")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Type", "application/gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.server.given = self.server.given or wanted

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""
