"""``python -m torture``: see ``--help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .session import Report, area_names, attack


def main() -> int:
    parser = argparse.ArgumentParser(prog="torture", description="Attack Dovetail.")
    parser.add_argument("--seconds", type=float, default=120, help="for all areas together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=area_names(), default=area_names())
    parser.add_argument("--number", type=int, help="repeat this attack alone")
    parser.add_argument("--count", type=int, default=0, help="attacks of each area, not seconds")
    given = parser.parse_args()
    first, count = (given.number, 1) if given.number is not None else (0, given.count)
    reports: list[Report] = []
    for area in given.only:
        seconds = given.seconds / len(given.only)
        reports.append(attack(area, given.seed, seconds, first, count))
        _tell_failures(reports[-1], given.seed)
    _tell_table(reports)
    return 1 if any(r.failures for r in reports) else 0


def _tell_failures(report: Report, seed: int) -> None:
    shown = 40
    for failure in report.failures[:shown]:
        again = f"--only {report.area} --seed {seed} --number {failure.number}"
        print(f"--- {report.area}, {failure.kind} (again: {again})\n{failure.text}", flush=True)
    if len(report.failures) > shown:
        print(f"--- {report.area}: {len(report.failures) - shown} more failures", flush=True)


def _tell_table(reports: Sequence[Report]) -> None:
    print(f"{'area':<14}{'attack':<44}{'tries':>8}{'failures':>10}")
    for report in reports:
        failed = [f.kind for f in report.failures]
        for kind, tries in sorted(report.tries.items()):
            print(f"{report.area:<14}{kind:<44}{tries:>8}{failed.count(kind):>10}")
    tries = sum(sum(r.tries.values()) for r in reports)
    failures = sum(len(r.failures) for r in reports)
    print(f"{'all':<58}{tries:>8}{failures:>10}  in {sum(r.seconds for r in reports):.0f} s")


if __name__ == "__main__":
    raise SystemExit(main())
