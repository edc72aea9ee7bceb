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
    tell = Teller(given.scripts)
    report = fuzz(
        given.count, given.seed, given.workers, given.compile_every, given.first, tell.news
    )
    tell.show(report)
    summarize(report)
    return 1 if report.failures else 0


class Teller:
    """Prints each failure once, with its script or the place of that."""

    def __init__(self, scripts: Path | None) -> None:
        self.scripts = scripts
        self.shown: set[str] = set()

    def news(self, worker: int, report: Report) -> None:
        self.show(report)
        if report.cases % 1000 == 0:
            print(f"worker {worker}: {report.cases} cases", flush=True)

    def show(self, report: Report) -> None:
        for key, failure in report.failures.items():
            if key in self.shown:
                continue
            self.shown.add(key)
            cases = failure["numbers"][:5]
            print(f"--- failure {len(self.shown)}, cases {cases}: {key}\n{failure['message']}")
            if self.scripts is None:
                print(failure.get("script", ""), flush=True)
            elif "script" in failure:
                self.scripts.mkdir(parents=True, exist_ok=True)
                path = self.scripts / f"failure_{len(self.shown)}.py"
                path.write_text(failure["script"])
                print(f"script: {path}", flush=True)


def summarize(report: Report) -> None:
    """Print what was done."""
    print(", ".join(f"{k} {n}" for k, n in report.kinds.most_common()))
    failing = sum(len(f["numbers"]) for f in report.failures.values())
    print(
        f"{report.cases} cases, {report.unclear} of them unclear, {failing} failing in "
        f"{len(report.failures)} ways; {1000 * report.seconds / max(1, report.cases):.1f} ms of "
        "processor time each"
    )


if __name__ == "__main__":
    raise SystemExit(main())
