"""Two processes of four CPU devices, and one of eight, on Dovetail and on JAX in turn.

    python benchmarks/processes.py [--peer PYTHON] [--rounds 3] [--write]

Steady steps of the transformer of ``sharded.py``, of whose batch each device has a part (with
constraints on Auto axes, under ``shard_map``, on Explicit axes): the gradients are summed over all
devices. Processes exchange them by Gloo on the loopback address. A time is that of the slower
process, the least of the rounds; a ratio is the median of the rounds' ratios. Exit status 1: a
target is missed. With ``--write`` the table goes into RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
from typing import Any

import peer
import sections
from sharded import Figures, Library, model

TARGET = 1.05
DEVICES = 8
LAYOUTS = (1, 2)
"""Of how many processes."""


def run(name: str, address: str, count: int, index: int) -> Figures:
    """The seconds of each step, in this process."""
    if count > 1:
        import importlib

        top: Any = importlib.import_module(name)
        top.distributed.initialize(address, count, index)
    found = Figures()
    for workload, timed in model(Library(name)):
        if workload.startswith("step."):
            found[workload] = min(timed() for _ in range(5))  # threads meet by chance
    return found


def child(python: str, name: str, count: int) -> dict[str, float]:
    """The seconds of each step of one library in the slowest of its processes.

    Raises:
        SystemExit: a process failed.
    """
    # See sharded.py about the number of threads.
    env = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES // count}",
        "TF_CPP_MIN_LOG_LEVEL": "3", "NPROC": "16",
    }  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [python, __file__, "--child", name, address, str(count)]
    made = [
        subprocess.Popen(
            [*command, str(i)], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for i in range(count)
    ]
    ends = [p.communicate() for p in made]
    if any(p.returncode for p in made):
        raise SystemExit("\n".join(err for _, err in ends))
    found = [json.loads(out.splitlines()[-1]) for out, _ in ends]
    return {step: max(f[step] for f in found) for step in found[0]}


def report(ours: dict[int, list[Any]], theirs: dict[int, list[Any]]) -> tuple[list[str], bool]:
    """The table, and whether a target is missed."""
    lines = ["| step | processes | Dovetail | JAX | ratio | target |", "|---|---|---|---|---|---|"]
    missed = False
    for step in ours[1][0]:
        for count in LAYOUTS:
            mine, other = ([r[step] for r in side[count]] for side in (ours, theirs))
            ratio = statistics.median(a / b for a, b in zip(mine, other))
            missed |= ratio > TARGET
            times = " | ".join(f"{min(t) * 1e3:.1f} ms" for t in (mine, other))
            lines.append(
                f"| {step} | {count} of {DEVICES // count} | {times} | {ratio:.2f} | {TARGET} |"
            )
    for side, rounds in (("Dovetail", ours), ("JAX", theirs)):
        growth = [b[s] / a[s] for a, b in zip(rounds[1], rounds[2]) for s in a]
        lines += ["", f"{side}: two processes take {statistics.median(growth):.2f} x one's time."]
    return lines, missed


def main() -> int:
    """Measure, print, and fail where a target is missed."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peer", help="interpreter of an environment with JAX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="renew the section in RESULTS.md")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        name, address, count, index = args.child
        print(json.dumps(run(name, address, int(count), int(index))))
        return 0
    python = args.peer or str(peer.peer_python())
    ours, theirs = ({count: list[Any]() for count in LAYOUTS} for _ in range(2))
    for _ in range(args.rounds):
        for count in LAYOUTS:
            ours[count].append(child(sys.executable, "dovetail", count))
            theirs[count].append(child(python, "jax", count))
    lines, missed = report(ours, theirs)
    print("\n".join(lines))
    if args.write:
        sections.write("processes.py", "## Two processes", lines)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
