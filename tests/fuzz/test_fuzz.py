"""Some hundred random programs, and the fuzzer itself: what it finds, shrinks and prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
COUNT = 3000 if os.environ.get("DOVETAIL_TEST_FULL") == "1" else 300

# A process of its own: it interprets what would be compiled, and computes in double precision.
PLANTED = """
from dovetail_ad import jvp_rules
from dovetail_lax import sin_p

def wrong(primals, tangents):
    (x,), (t,) = primals, tangents
    return sin_p.bind(x), t

jvp_rules.set(sin_p, wrong, override=True)
"""
SHRINKING = """
from fuzz import session
{planted}
session.prepare()
for report in session.run(3, range(200), 0, shrinking=60):
    if report.failures:
        break
(failure,) = report.failures.values()
print(failure["script"])
"""


def _run(*command: str, **how: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        **how,  # type: ignore[call-overload]
    )


def test_random_programs_obey_the_laws() -> None:
    """Deterministic: the same programs each time."""
    done = _run("-m", "fuzz", "--count", str(COUNT), "--workers", "1", "--compile-every", "60")
    assert done.returncode == 0, done.stdout
    assert f"{COUNT} cases" in done.stdout and "0 failing" in done.stdout


def test_a_wrong_rule_is_found_shrunk_and_printed(tmp_path: Path) -> None:
    done = _run("-c", SHRINKING.format(planted=PLANTED))
    assert done.returncode == 0, done.stderr
    script = done.stdout
    (program,) = [part for part in script.split("\n\n\n") if part.startswith("def f(")]
    assert "sin" in program and len(program.splitlines()) <= 5, program
    assert "fuzz" not in script.replace("test_fuzz", "")
    sound, broken = tmp_path / "sound.py", tmp_path / "broken.py"
    sound.write_text(script)
    broken.write_text(_after_imports(script, PLANTED))
    assert _run(str(sound)).returncode == 0
    failed = _run(str(broken))
    assert failed.returncode != 0 and "Wrong: " in failed.stderr, failed.stderr


def _after_imports(script: str, more: str) -> str:
    line = 'dovetail.config.update("enable_x64", True)\n'
    assert line in script
    return script.replace(line, line + more)


def test_cases_are_those_of_their_numbers() -> None:
    text = (
        "from fuzz.cases import case_of; from fuzz.script import script_of; "
        "print(*[script_of(case_of(5, n)) for n in range(3)])"
    )
    one, two = _run("-c", text), _run("-c", text)
    assert one.returncode == 0, one.stderr
    assert one.stdout == two.stdout and "def f(" in one.stdout
