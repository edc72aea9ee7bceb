"""What do 200 installed plugins add to start-up? Measured in fresh processes, with and without.

    python benchmarks/plugins_200.py [--plugins 200] [--rounds 7] [--json FILE]

The plugins are distributions in a temporary directory on PYTHONPATH: metadata with an entry point,
a manifest, and a module of rules that nobody should import before they are asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MANIFEST = """\
from dovetail_core import Manifest

MANIFEST = Manifest(
    "dummy_{n:03}",
    names={{"dummy_{n:03}": "dovetail_dummy_{n:03}_rules:nothing"}},
    contributes={{"ad.jvp": ("dovetail_dummy_{n:03}_rules",)}},
)
"""

CELLS = """\
def nothing():
    return None
"""

CHILD = """\
import json, time
start = time.perf_counter()
import dovetail
imported = time.perf_counter()
import dovetail.numpy as dnp
dnp.add(dnp.arange(4.0), 1.0).block_until_ready()
print(json.dumps({"import": imported - start, "first operation": time.perf_counter() - start}))
"""

LISTING = """\
import sys
from dovetail_cli import main
sys.argv = ["dovetail", "plugins"]
sys.exit(main())
"""


def install_dummies(folder: Path, count: int) -> None:
    """Write ``count`` plugin distributions into ``folder``, as an installer leaves them."""
    for n in range(count):
        name = f"dovetail_dummy_{n:03}"
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            f"[dovetail.plugins]\ndummy_{n:03} = {name}:MANIFEST\n"
        )
        (folder / f"{name}.py").write_text(MANIFEST.format(n=n))
        (folder / f"{name}_rules.py").write_text(CELLS)


def child(code: str, folder: Path | None) -> str:
    """What ``code`` prints in a fresh process that finds the plugins in ``folder``, if any."""
    path = [str(folder)] if folder else []
    path += filter(None, [os.environ.get("PYTHONPATH")])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def measure(count: int, rounds: int) -> dict[str, float]:
    """Seconds that ``count`` plugins add, by stage: the median over the rounds' differences."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install_dummies(folder, count)
        if f"dummy_{count - 1:03}" not in child(LISTING, folder):
            raise SystemExit("`dovetail plugins` does not list the dummies: nothing was measured")
        differences: dict[str, list[float]] = {}
        child(CHILD, None)  # both sides compiled and in the file cache before the first round
        child(CHILD, folder)
        for _ in range(rounds):
            without, with_them = (json.loads(child(CHILD, f)) for f in (None, folder))
            for stage, value in with_them.items():
                differences.setdefault(stage, []).append(value - without[stage])
    return {stage: statistics.median(values) for stage, values in differences.items()}


def main() -> None:
    """Measure, print a line per stage, and write the figures to ``--json`` if given."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--plugins", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    added = measure(args.plugins, args.rounds)
    for stage, value in added.items():
        print(f"{args.plugins} plugins add to {stage}: {value * 1e3:8.1f} ms")
    if args.json:
        args.json.write_text(json.dumps(added))


if __name__ == "__main__":
    main()
