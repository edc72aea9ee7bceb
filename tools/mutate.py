"""Mutation testing: makes small random changes to the sources, and says which ones no test noticed.

    python tools/mutate.py [-n 200] [--seed 0] [--packages core ad ...] [--tests core/tests ...]

All happens in a copy of the repository, `build/mutation/tree`. The tests run there once under
coverage, which tells whose statements each test runs. Each mutant is then written into the copy,
and the tests that run its statement are run in a forked process, the cheapest first, up to the
first that fails. One that survives these meets all tests of its package, since some run statements
that are seen only once (what is remembered, what runs on import or in another process). A test
that kills is run on the unchanged copy as well: it must pass there on its own.

The seed decides which mutants are drawn. What was found is in `build/mutation/results.json`: a run
that was interrupted goes on, and survivors are tried again when sources or tests have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
import tomllib
from itertools import chain, zip_longest
from typing import Any

from mutants import Mutant, mutants
from mutation_runs import BUILD, LOG, ROOT, TREE, Tests, Watch, copy_tree, forked, known_tests

EQUIVALENT = ROOT / "tools/equivalent_mutants.toml"
PACKAGES = {
    "core": ("core/dovetail_core", "core/tests"),
    "base": ("core/dovetail_base", "core/tests"),
    **{
        name: (f"plugins/{name}/dovetail_{name}", f"plugins/{name}/tests")
        for name in ("ad", "batching", "custom_rules", "remat")
    },
}
WHOLE = "tests/tools"  # tests of what packages are, besides of what their functions do
ELSEWHERE = [WHOLE, "tests/matrix", "tests/compositions"]


def drawn(packages: list[str], n: int, seed: int, within: list[str]) -> dict[str, list[Mutant]]:
    """``n`` mutants, equally many of each package, and of each kind as far as there are."""
    shares = [n // len(packages) + (i < n % len(packages)) for i in range(len(packages))]
    result: dict[str, list[Mutant]] = {}
    for package, share in zip(packages, shares, strict=True):
        kinds: dict[str, list[Mutant]] = {}
        for file in sorted((TREE / PACKAGES[package][0]).rglob("*.py")):
            path = str(file.relative_to(TREE))
            if not within or any(path.startswith(w) for w in within):
                for m in mutants(TREE, path):
                    kinds.setdefault(m.kind, []).append(m)
        by_kind = [sorted(kinds[k], key=lambda m: _order(m, seed)) for k in sorted(kinds)]
        mixed = [m for m in chain.from_iterable(zip_longest(*by_kind)) if m is not None]
        result[package] = list({m.key: m for m in mixed}.values())[:share]
    return result


def _order(m: Mutant, seed: int) -> str:
    return hashlib.sha256(f"{seed}\n{m.key}".encode()).hexdigest()


def try_mutant(m: Mutant, package: str, known: list[Tests], budget: float) -> dict[str, Any]:
    """Whether a test fails for a mutant: which, or how many did not, in how long."""
    own = PACKAGES[package][1]
    seconds = {t: s for tests in known for t, s in tests.seconds.items()}
    covering: set[str] = set()
    for tests in known:
        lines = tests.covers.get(m.path, {})
        covering |= {t for n in range(m.lines[0], m.lines[1] + 1) for t in lines.get(n, ())}
    home = {t for t in seconds if t.startswith(own)}
    last = home | {t for t in seconds if t.startswith(WHOLE)}
    # Its own tests first: others cover a kernel's statement by the thousand.
    order = sorted(covering if m.inside else (), key=lambda t: (t not in home, seconds[t]))
    rest = sorted(last - set(order), key=lambda t: seconds[t])
    started, tried = time.monotonic(), 0
    file = TREE / m.path
    source, written = file.read_bytes(), file.stat().st_mtime_ns
    for stage in (order[:25], order[25:], rest):
        allowed = _affordable(stage, seconds, budget)
        while allowed:
            try:
                file.write_bytes(m.applied(source))
                os.utime(
                    file, ns=(0, time.time_ns() // 10**9 * 10**9)
                )  # no stale bytecode is taken
                code, killers = _outcome(allowed, seconds)
            finally:
                file.write_bytes(source)
                os.utime(file, ns=(0, written))  # its bytecode is that of the source again
            spurious = [t for t in killers if not _passes_alone(t)]
            if code not in (0, 5) and not spurious:
                by = killers[0] if killers else "time limit" if code is None else "import"
                return {"killed": by, "seconds": round(time.monotonic() - started, 1)}
            tried += len(allowed) if not spurious else 0
            allowed = [t for t in allowed if t not in spurious] if spurious else []
    return {
        "killed": "",
        "covering": len(order),
        "tried": tried,
        "seconds": round(time.monotonic() - started, 1),
    }


def _affordable(tests: list[str], seconds: dict[str, float], budget: float) -> list[str]:
    kept, spent = [], 0.0
    for test in tests:
        spent += seconds[test]
        if spent > budget:
            break
        kept.append(test)
    return kept


def _outcome(tests: list[str], seconds: dict[str, float]) -> tuple[int | None, list[str]]:
    files = dict.fromkeys(t.partition("::")[0] for t in tests)
    limit = 60 + 5 * sum(seconds[t] for t in tests)
    code = forked(files, Watch(tests), limit)
    return code, json.loads(LOG.read_text())["failed"] if LOG.exists() else []


_alone: dict[str, bool] = {}


def _passes_alone(test: str) -> bool:
    if test not in _alone:
        _alone[test] = _outcome([test], {test: 60.0})[0] == 0
    return _alone[test]


def report(drawn_: dict[str, list[Mutant]], results: dict[str, dict[str, Any]]) -> None:
    """Figures per package, and each survivor as a change."""
    listed = tomllib.loads(EQUIVALENT.read_text())["mutant"] if EQUIVALENT.exists() else []
    equivalent = {"\n".join((m["path"], m["place"], m["old"], m["new"])): m for m in listed}
    for package, chosen in drawn_.items():
        done = [m for m in chosen if m.key in results]
        left = [m for m in done if not results[m.key]["killed"]]
        same = [m for m in left if m.key in equivalent]
        for m in left:
            r = results[m.key]
            why = equivalent[m.key]["reason"] if m in same else f"tests: {r['tried']}"
            print(f"\n{m.path}:{m.lines[0]} in {m.place or 'the module'} ({m.kind}; {why})")
            print(f"  - {m.old.strip()}\n  + {m.new.strip()}")
        print(
            f"\n{package}: {len(done) - len(left)} of {len(done)} killed"
            f" ({(len(done) - len(left)) / max(1, len(done)):.0%}),"
            f" {len(same)} of the {len(left)} survivors known to be equivalent"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-n", type=int, default=200, help="how many mutants, over all packages")
    parser.add_argument("--seed", type=int, default=0, help="which mutants")
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES), choices=list(PACKAGES))
    parser.add_argument("--within", nargs="+", default=[], help="only files below these paths")
    parser.add_argument("--tests", nargs="+", help="folders of tests (default: all that matter)")
    parser.add_argument("--budget", type=float, default=120, help="seconds of tests per survivor")
    parser.add_argument("--again", action="store_true", help="try all survivors again")
    return parser.parse_args()


def _is_settled(before: dict[str, Any] | None, state: str, again: bool) -> bool:
    """Killed once, or survived the tests as they are."""
    return before is not None and bool(before["killed"] or (before["state"] == state and not again))


def main() -> None:
    """Draw mutants, try those that are not known, report."""
    given = _arguments()
    BUILD.mkdir(parents=True, exist_ok=True)
    stored = BUILD / "results.json"
    results: dict[str, dict[str, Any]] = json.loads(stored.read_text()) if stored.exists() else {}
    digests = copy_tree()
    every = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "plugins").glob("*/tests"))
    folders = given.tests or ["core/tests", *every, *ELSEWHERE]
    measured = [sources for sources, _ in PACKAGES.values()]
    known = [known_tests(folder, digests, measured) for folder in folders]
    state = hashlib.sha256("".join(t.digest for t in known).encode()).hexdigest()
    chosen = drawn(given.packages, given.n, given.seed, given.within)
    for package, m in [(package, m) for package, some in chosen.items() for m in some]:
        if not _is_settled(results.get(m.key), state, given.again):
            results[m.key] = result = {
                **try_mutant(m, package, known, given.budget),
                "state": state,
            }
            stored.write_text(json.dumps(results, indent=1))
            said = f"killed by {result['killed']}" if result["killed"] else "SURVIVED"
            print(f"{result['seconds']:6.1f} s {m.path}:{m.lines[0]} {said}", flush=True)
    report(chosen, results)


if __name__ == "__main__":
    main()
