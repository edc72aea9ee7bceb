"""The peer's environment: ``python benchmarks/peer.py`` makes it and prints its interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PEER = ROOT / ".venv-peer"


def peer_python() -> Path:
    """The interpreter of the peer's environment (.venv-peer, JAX at the version of
    constraints.txt), which is made first where it is missing."""
    python = PEER / "bin" / "python"
    stamp = PEER / ".ready"
    pins = (ROOT / "constraints.txt").read_text()
    if not stamp.exists() or stamp.read_text() != pins:
        print(f"{PEER.name}: JAX, the peer", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", PEER], check=True)
        install = [python, "-m", "pip", "--quiet", "install", "-c", ROOT / "constraints.txt", "jax"]
        subprocess.run(install, check=True)
        stamp.write_text(pins)
    return python


if __name__ == "__main__":
    print(peer_python())
