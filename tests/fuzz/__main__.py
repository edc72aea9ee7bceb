"""``python -m fuzz``: see ``--help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .session import Report, fuzz, work


def main() -> int:
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(prog="fuzz", description="Try Dovetail on random programs.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--compile-every", type=int, default=20, help="compile each n-th case with XLA (0: none)"
    )
    parser.add_argument("--scripts", type=Path, help="where to write the scripts of failures")
    given = parser.parse_args()
    report = fuzz(given.count, given.seed, given.workers, given.compile_every, given.first)
    show(report, given.scripts)
    return 1 if report.failures else 0


def show(report: Report, scripts: Path | None) -> None:
    """Print what was done, and each failure with its script."""
    for i, (key, failure) in enumerate(sorted(report.failures.items())):
        print(f"--- failure {i + 1}, cases {failure['numbers'][:10]}: {key}\n{failure['message']}")
        if scripts is None:
            print(failure.get("script", ""))
        elif "script" in failure:
            scripts.mkdir(parents=True, exist_ok=True)
            path = scripts / f"failure_{i + 1}.py"
            path.write_text(failure["script"])
            print(f"script: {path}")
    print(", ".join(f"{k} {n}" for k, n in report.kinds.most_common()))
    failing = sum(len(f["numbers"]) for f in report.failures.values())
    print(
        f"{report.cases} cases, {report.unclear} of them unclear, {failing} failing in "
        f"{len(report.failures)} ways; {1000 * report.seconds / max(1, report.cases):.1f} ms of "
        "processor time each"
    )


if __name__ == "__main__":
    raise SystemExit(main())
