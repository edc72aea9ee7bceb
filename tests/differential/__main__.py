"""``make differential``: evaluates calls in both libraries and tells what differs, as a table.

``--write`` puts the table and the differences that are decided into ``docs/coverage.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from threading import Thread
from typing import Any, NamedTuple

from torture.inputs.mutation import alternatives, valid_calls

from .comparing import difference
from .reasons import reason
from .variants import VARIANTS

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "coverage.md"
AREAS = ("numpy", "numpy_linalg", "lax", "nn", "random")
BEGIN, END = "<!-- begin: written by make differential -->\n", "<!-- end: differential -->"


class Difference(NamedTuple):
    """Two answers that differ; ``why`` is empty where nobody has decided on it."""

    area: str
    text: str
    variant: str
    what: str
    told: str
    why: str


def calls(areas: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Pairs of an area and a text."""
    for call in valid_calls():
        if call.area in areas:
            yield call.area, call.text
    if "scipy" in areas:
        lines = (Path(__file__).parent / "calls" / "scipy.txt").read_text().splitlines()
        for line in lines:
            if line and not line.startswith("#"):
                yield from (("scipy", text) for text in alternatives(line))


def answers(python: str, library: str, asked: list[tuple[str, str]]) -> dict[Any, Any]:
    """What a library answers to each text and variant; nothing where its process dies, or has
    nothing to say for :data:`PATIENCE` seconds."""
    result: dict[Any, Any] = {}
    rest = list(asked)
    while rest:
        for text, variant, answer in _told(python, library, rest):
            result[text, variant] = answer
        done = sum(pair in result for pair in rest)
        if done < len(rest):
            print(f"{library} has no answer to {rest[done]}", file=sys.stderr)
        rest = rest[done + 1 :]
    return result


PATIENCE = 60


def _forward(stdout: Any, lines: Queue[str]) -> None:
    for line in stdout:
        lines.put(line)
    lines.put("")


def _told(python: str, library: str, asked: list[tuple[str, str]]) -> Iterator[Any]:
    """What one process answers, as long as it does."""
    command = [python, "-m", "differential.evaluation", library]
    with TemporaryFile("w+") as questions:
        questions.writelines(json.dumps(pair) + "\n" for pair in asked)
        questions.seek(0)
        process = Popen(command, stdin=questions, stdout=PIPE, text=True, cwd=TESTS)
    assert process.stdout is not None
    lines: Queue[str] = Queue()
    stdout = process.stdout
    Thread(target=lambda: _forward(stdout, lines), daemon=True).start()
    try:
        while line := lines.get(timeout=PATIENCE):
            yield json.loads(line)
    except Empty:
        pass
    finally:
        process.kill()
        process.wait()


def compare(pairs: list[tuple[str, str]], ours: Any, theirs: Any) -> Iterator[tuple[str, Any]]:
    """For each answer its area and how it differs, None where it does not."""
    for area, text in pairs:
        for variant in VARIANTS:
            mine, other = (x.get((text, variant), {}) for x in (ours, theirs))
            for what in ("value", "gradient"):
                if what not in mine or what not in other:
                    continue
                told = difference(mine[what], other[what], 1.0 if what == "gradient" else 0.0)
                why = reason(text, variant, what, told) if told else ""
                yield area, Difference(area, text, variant, what, told, why) if told else None


def table(result: list[tuple[str, Any]]) -> str:
    """How many answers agree, by area."""
    lines = ["| area | compared | equal | decided | open |", "|---|---|---|---|---|"]
    for area in [*dict.fromkeys(a for a, _ in result), "all"]:
        own = [d for a, d in result if area in (a, "all")]
        count = Counter("equal" if d is None else "decided" if d.why else "open" for d in own)
        cells = " | ".join(str(count[k]) for k in ("equal", "decided", "open"))
        lines.append(f"| {area} | {len(own)} | {cells} |")
    return "\n".join(lines) + "\n"


def decided(result: list[tuple[str, Any]]) -> str:
    """Why answers differ, and how many do for each reason."""
    count = Counter(d.why for _, d in result if d is not None and d.why)
    return "".join(f"- {why} ({n})\n" for why, n in sorted(count.items()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential")
    parser.add_argument("--peer", nargs=2, metavar=("PYTHON", "LIBRARY"), required=True)
    parser.add_argument("--areas", nargs="*", default=[*AREAS, "scipy"])
    parser.add_argument("--only", default="", help="texts that contain this alone")
    parser.add_argument("--limit", type=int, default=100, help="how many differences to list")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    pairs = [p for p in calls(tuple(given.areas)) if given.only in p[1]]
    asked = [(text, variant) for _, text in pairs for variant in VARIANTS]
    ours = answers(sys.executable, "dovetail", asked)
    result = list(compare(pairs, ours, answers(*given.peer, asked)))
    for d in [d for _, d in result if d is not None and not d.why][: given.limit]:
        print(f"{d.text} [{d.variant}] {d.what}: {d.told}")
    print(table(result))
    if given.write:
        text = PAGE.read_text()
        head, rest = text.split(BEGIN)
        PAGE.write_text(
            f"{head}{BEGIN}\n{table(result)}\n{decided(result)}\n{END}{rest.split(END)[1]}"
        )
    return 1 if any(d is not None and not d.why for _, d in result) else 0


if __name__ == "__main__":
    sys.exit(main())
