"""``make ecosystem``: see ``--help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import page
from .comparing import compare, store, told_failures, told_table
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
    parser.add_argument("--failing", action="store_true", help="only what failed here before")
    parser.add_argument("--kept", action="store_true", help="run nothing that has results")
    parser.add_argument("--first", type=int, default=0, help="begin at this test of each file")
    parser.add_argument("--failures", action="store_true", help="tell what failed, by message")
    parser.add_argument("--repeat", type=int, default=3, help="how often a program is measured")
    parser.add_argument("--workers", type=int, default=2, help="files of tests at a time")
    parser.add_argument("--checkout", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="Dovetail's")
    parser.add_argument("--page", action="store_true", help="run nothing: write the page anew")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> list[Library]:
    result = [LIBRARIES[name] for name in given.libraries]
    chosen = [library for library in result if library.sample or not given.sample]
    return [library._replace(first=given.first % library.every) for library in chosen]


def _tests(given: argparse.Namespace, library: Library, runner: Runner) -> bool:
    """Runs a library's tests; whether all that pass on JAX pass here, too."""
    checkouts = dict(pair.split("=", 1) for pair in given.checkout)
    checkout = checkouts.get(library.name)
    root, files = files_of(library, runner.environment, checkout, given.sample)
    chosen = [f for f in files if not given.files or any(text in f for text in given.files)]
    if not chosen:
        return True
    result = compare(library, runner, root, chosen)
    if chosen == files and not given.sample and not library.first:
        store(result)
    print(told_table(result), flush=True)
    if given.failures or given.sample:
        print(told_failures(result), flush=True)
    return not result.failed


def _programs(given: argparse.Namespace, library: Library, environment: Environment) -> bool:
    """Measures a library's programs; whether all run and give JAX's numbers."""
    good = True
    for measured in measure(library, environment, given.sample, given.repeat, given.kept):
        good &= not measured.problem
        print(compared(measured), flush=True)
    return good


def main() -> int:
    given = _arguments()
    if given.page:
        page.write()
        return 0
    libraries = _chosen(given)
    environment = Environment("sample" if given.sample else "all")
    environment.install(libraries, given.wheels)
    runner = Runner(environment, given.failing, given.kept, given.workers)
    good = True
    for library in libraries:
        if given.skip != "tests":
            good &= _tests(given, library, runner)
        if given.skip != "programs":
            good &= _programs(given, library, environment)
    if not given.sample:
        page.write()
    return 1 if given.sample and not good else 0


if __name__ == "__main__":
    sys.exit(main())
