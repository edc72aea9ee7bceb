"""``python -m torture.inputs.table``: how many wrong inputs are told clearly, by module.

With ``--peer PYTHON LIBRARY`` the same texts are answered by another library in its own
environment, and what one accepts and the other refuses is listed, unless ``decided`` says why.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from .decided import decided
from .mutation import Wrong, random_wrong
from .trying import Outcome, ready, try_one

_EVALUATION = Path(__file__).with_name("evaluation.py")


def main() -> int:
    parser = argparse.ArgumentParser(prog="torture.inputs.table")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--area", help="one file of calls alone")
    parser.add_argument("--show", default="internal", help="classes to list, with commas")
    parser.add_argument("--peer", nargs=2, metavar=("PYTHON", "LIBRARY"))
    parser.add_argument("--limit", type=int, default=60, help="how many of each to list")
    given = parser.parse_args()
    result = _try_all(given.count, given.seed, given.area)
    _tell(result, given.show.split(","), given.limit)
    undecided = _compare(result, *given.peer) if given.peer else 0
    return 1 if undecided or any(o.judgement == "internal" for _, o in result) else 0


def _try_all(count: int, seed: int, area: str | None) -> list[tuple[Wrong, Outcome]]:
    names, rng = ready(), random.Random(seed)
    result: dict[str, tuple[Wrong, Outcome]] = {}
    for _ in range(count):
        wrong = random_wrong(rng, names, area)
        if wrong.text not in result:
            result[wrong.text] = wrong, try_one(wrong, names)
    return [*result.values()]


def _tell(result: list[tuple[Wrong, Outcome]], show: list[str], limit: int) -> None:
    classes = ("accepted", "clear", "unclear", "nameless", "internal")
    for kind in show:
        chosen = [(w, o) for w, o in result if o.judgement == kind]
        for wrong, outcome in chosen[:limit]:
            print(f"{kind}: {wrong.text}\n    {outcome.text[:300]}\n    {outcome.where}")
    print(f"{'':<18}{'tries':>7}" + "".join(f"{c:>10}" for c in classes) + f"{'clear %':>9}")
    for area in [*sorted({w.area for w, _ in result}), ""]:
        counts = Counter(o.judgement for w, o in result if area in ("", w.area))
        errors = sum(counts.values()) - counts["accepted"]
        share = 100 * counts["clear"] / max(errors, 1)
        cells = "".join(f"{counts[c]:>10}" for c in classes)
        print(f"{area or 'all':<18}{sum(counts.values()):>7}{cells}{share:>9.1f}")


def _compare(result: list[tuple[Wrong, Outcome]], python: str, library: str) -> int:
    """How many inputs the libraries disagree on without a reason, each of them told."""
    # To take apart what contains itself spoils the stack of some libraries' processes.
    texts = [w.text for w, _ in result if "recursive" not in w.text]
    answers = _answers(texts, python, library)
    lines: list[str] = []
    count: Counter[str] = Counter()
    for wrong, outcome in result:
        theirs = answers.get(wrong.text)
        ours = outcome.judgement == "accepted"
        if theirs is None or ours == (theirs == "accepted"):
            count["same"] += 1
        elif decided(wrong, ours, theirs if ours else outcome.text):
            count["decided"] += 1
        else:
            count["open"] += 1
            said = theirs if ours else outcome.text
            lines.append(
                f"{'accepted' if ours else 'refused'} alone: {wrong.text}\n    {said[:200]}"
            )
    print("\n".join(sorted(lines)))
    print(f"against {library}: {dict(count)}")
    return count["open"]


def _answers(texts: list[str], python: str, library: str) -> dict[str, str]:
    answers: dict[str, str] = {}
    while texts:
        command = [python, str(_EVALUATION), library]
        sent = "".join(json.dumps(t) + "\n" for t in texts)
        done = subprocess.run(
            command, input=sent, capture_output=True, text=True, check=False, timeout=3600
        )
        lines: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
        answers.update(dict(lines))
        if len(lines) < len(texts):  # it died of the next one
            answers[texts[len(lines)]] = "died"
        texts = texts[len(lines) + 1 :]
    return answers


if __name__ == "__main__":
    sys.exit(main())
