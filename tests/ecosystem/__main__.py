"""``make ecosystem``: see ``--help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import page
from .comparing import Comparison, compare, told_failures, told_table
from .environment import Environment
from .libraries import LIBRARIES, Library
from .measuring import compared, measure
from .running import Runner
from .suites import files_of

WHEELS = Path(__file__).parents[2] / "build" / "wheels"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ecosystem", description=__doc__)
    names = list(LIBRARIES)
    parser.add_argument("--libraries", nargs="*", choices=names, default=names, metavar="NAME")
    parser.add_argument("--files", nargs="*", default=[], help="tests of files that contain these")
    parser.add_argument("--sample", action="store_true", help="what continuous integration runs")
    parser.add_argument("--skip", choices=("tests", "programs"), default="", help="leave out")
    parser.add_argument("--failing", action="store_true", help="only tests that failed here before")
    parser.add_argument("--kept", action="store_true", help="run nothing of which there are results")
    parser.add_argument("--failures", action="store_true", help="tell what failed, by message")
    parser.add_argument("--repeat", type=int, default=3, help="how often a program is measured")
    parser.add_argument("--checkout", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="Dovetail's")
    parser.add_argument("--write", action="store_true", help="renew docs/ecosystem.md")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> list[Library]:
    found = [LIBRARIES[name] for name in given.libraries]
    return [library for library in found if library.sample or not given.sample]


def main() -> int:
    given = _arguments()
    libraries = _chosen(given)
    folders = dict(pair.split("=", 1) for pair in given.checkout)
    environment = Environment("sample" if given.sample else "all")
    environment.install(libraries, given.wheels)
    runner = Runner(environment, failing=given.failing, kept=given.kept)
    comparisons: list[Comparison] = []
    bad = False
    for library in libraries:
        if given.skip != "tests":
            root, files = files_of(library, environment, folders.get(library.name), given.sample)
            files = [f for f in files if not given.files or any(t in f for t in given.files)]
            comparisons.append(compare(library, runner, root, files))
            print(told_table(comparisons[-1:]), flush=True)
            if given.failures:
                print(told_failures(comparisons[-1]), flush=True)
        if given.skip != "programs":
            for outcome in measure(library, environment, given.sample, given.repeat, given.kept):
                bad |= bool(outcome.problem)
                print(compared(outcome), flush=True)
    if given.write:
        page.write(environment)
    return 1 if given.sample and (bad or any(c.failed for c in comparisons)) else 0


if __name__ == "__main__":
    sys.exit(main())
