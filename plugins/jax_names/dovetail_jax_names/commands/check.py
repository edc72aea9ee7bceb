"""``dovetail check``: which names of JAX a project uses that are not here, by its sources."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from dovetail_cli.render import count, table
from dovetail_core import DovetailError

from ..hook import install
from ..scanning import (
    EMPTY,
    IDLE,
    MISSING,
    PRIVATE,
    PRIVATE_MISSING,
    UNKNOWN,
    UNREAD,
    Problem,
    Use,
    files_of,
    problems,
    scan_file,
)

help = "say which names of jax a project uses that Dovetail lacks, without running it"

_SUMMARY = {
    MISSING: "missing",
    PRIVATE_MISSING: "private and missing",
    PRIVATE: "private and emulated",
    UNKNOWN: "that JAX has not",
    EMPTY: "empty",
    IDLE: "without effect",
}


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="Python files, or folders of them")
    parser.epilog = (
        "for example: dovetail check src tests. Hidden folders and site-packages below them are "
        "left out. The exit status is 1 if something is missing that the program does not expect "
        "to be missing."
    )


def run(args: Namespace) -> int:
    """Print the table and a summary."""
    absent = [p for p in args.paths if not Path(p).exists()]
    if absent:
        raise DovetailError(
            f"there is no file or folder {absent[0]!r}; for example: dovetail check src tests"
        )
    install()
    uses, result, files = _read(args.paths)
    result += problems(uses)
    if result:
        print(table(["location", "name", "what about it"], [_row(p) for p in result]), end="\n\n")
    print(_summary(files, uses, result))
    return int(any(p.is_fatal for p in result))


def _read(paths: Sequence[str]) -> tuple[list[Use], list[Problem], int]:
    """The uses in all files, those that cannot be read, and how many files there are."""
    uses: list[Use] = []
    unread: list[Problem] = []
    number = 0
    for path in files_of(paths):
        number += 1
        try:
            uses += scan_file(path)
        except (SyntaxError, ValueError) as e:  # ValueError: it has a null byte
            use = Use(str(path), getattr(e, "lineno", None) or 0, "")
            unread.append(Problem(use, UNREAD, f"it is no Python source: {e}"))
    return uses, unread, number


def _row(problem: Problem) -> list[str]:
    use = problem.use
    location = f"{use.file}:{use.line}" if use.line else use.file
    kind = (
        f"{problem.kind}, which the program provides for" if _is_expected(problem) else problem.kind
    )
    return [location, use.name, f"{kind}: {problem.why}" if problem.why else kind]


def _is_expected(problem: Problem) -> bool:
    return problem.use.is_probed and problem.kind in (MISSING, PRIVATE_MISSING, UNKNOWN)


def _summary(files: int, uses: Sequence[Use], result: Sequence[Problem]) -> str:
    names = {u.name for u in uses}
    used = f"{count(len(names), 'name')} of jax in {count(len(uses), 'place')}"
    parts = [
        f"{len({p.use.name for p in result if p.kind == kind})} {sentence}"
        for kind, sentence in _SUMMARY.items()
        if any(p.kind == kind for p in result)
    ]
    unread = sum(p.kind == UNREAD for p in result)
    if unread:
        parts.append(f"{count(unread, 'file')} not read")
    return f"{count(files, 'file')}, {used}: {', '.join(parts) or 'all are there'}"
