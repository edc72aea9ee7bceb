"""Facts about the machine and the two environments, for whoever reads the figures."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

VERSIONS = """\
import json, platform
from importlib.metadata import distributions
wanted = ("dovetail", "dovetail-core", "jax", "jaxlib", "numpy")
found = {d.metadata["Name"].lower(): d.version for d in distributions()}
versions = {"Python": platform.python_version()} | {n: found[n] for n in wanted if n in found}
print(json.dumps(versions))
"""


def facts(ours: Path, peer: Path) -> Iterator[tuple[str, str]]:
    """Name and value of each fact: hardware, system, and what is installed on both sides."""
    yield "processor", f"{processor()}, {os.cpu_count()} cores"
    yield "memory", memory()
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "Dovetail's environment", versions(ours)
    yield "JAX's environment", versions(peer)


def load() -> str:
    """The load averages over 1, 5 and 15 minutes: how much else was going on."""
    return ", ".join(f"{value:.2f}" for value in os.getloadavg())


def processor() -> str:
    """The processor's model as the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def memory() -> str:
    """Physical memory in GiB."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.0f} GiB"


def versions(python: Path) -> str:
    """Versions of the interpreter and of the libraries that matter in its environment."""
    done = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=True)
    return ", ".join(f"{name} {version}" for name, version in json.loads(done.stdout).items())
