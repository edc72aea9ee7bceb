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


UNSTABLE = """
import random
from fuzz.generation import POINTS, Rejected, _check_stable, random_value
from fuzz.regions import derivative
from fuzz.scope import Scope

class Gradient(random.Random):
    def random(self):
        return 0.0

def accepted(after):
    rng = Gradient(1)
    points = [(random_value(rng, (3,), 'float64'),) for _ in range(POINTS)]
    scope = Scope(rng)
    scope.param(points[0][0])
    derivative(scope, lambda inner: None)
    (slopes,) = scope.steps[-1].outs
    scope.add('after', *after, slopes)
    program = scope.program(*scope.steps[-1].outs)
    try:
        _check_stable(program, points)
    except Rejected:
        return False
    return True

argmin = 'dnp.argmin({0}).astype(np.int32)', 'np.argmin({0}).astype(np.int32)'
floor = 'dnp.floor({0} * 10)', 'np.floor({0} * 10)'
sine = 'dnp.sin({0})', 'np.sin({0})'
print(*[accepted(after) for after in (argmin, floor, sine)])
"""


def test_what_hangs_on_the_error_of_differences_is_rejected() -> None:
    """The gradient of the identity is 1 everywhere, exactly; differences say so but for an error,
    by which one element is the smallest and some are less than 1."""
    done = _run("-c", UNSTABLE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", "False", "True"], done.stdout


ENDLESS = """
import time
from fuzz import session

def endless(case):
    while True:
        pass

for session.SLOW, session.check in ((0.5, endless), (0.05, lambda case: time.sleep(60))):
    for report in session.run(0, range(1), 0, shrinking=0.0):
        print(*report.failures)
"""


def test_a_case_that_computes_or_waits_for_ever_is_given_up() -> None:
    done = _run("-c", ENDLESS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("_TooSlow") == 2, done.stdout


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


# What a backward rule does to a reference happens where the function is called, too.
PLANTED_IN_REFERENCES = """
import dovetail_custom_rules.reverse as reverse

reverse._copied = lambda x: x
"""
ALL_USES = """
import random
from fuzz import ruled_references as ruled, session
from fuzz.cases import Case, check
from fuzz.generation import POINTS, random_value
from fuzz.programs import all_steps
from fuzz.scope import Rejected, Scope
from fuzz.shrinking import failure_of
from fuzz.transformations import jit, jvp, vjp, vmap
{planted}
session.prepare()


class Fixed(random.Random):
    '''Takes the given ones where there is a choice among all uses, or among all rules.'''

    def choice(self, seq):
        return seq[self.of[id(seq)]] if id(seq) in self.of else super().choice(seq)


def sine(inner):
    inner.add('sine', 'dnp.sin({{0}})', 'np.sin({{0}})', inner.params[0])


def cases(step, *tables):
    numbers = [[]]
    for table in tables:
        numbers = [[*ns, k] for ns in numbers for k in range(len(table))]
    for ns in numbers:
        rng = Fixed(str(ns))
        rng.of = {{id(table): n for table, n in zip(tables, ns)}}
        points = [(random_value(rng, (2,), 'float64'),) for _ in range(POINTS)]
        scope = Scope(rng)
        x = scope.param(points[0][0])
        step(scope, sine)
        program = scope.program(*scope.steps[-1].outs)
        stacks = [(), (jvp(1),), (jit(), vjp()), (vmap((0,)), vjp())]
        if {{s.kind for s in all_steps(program)}} & {{'unmapped rule'}}:
            stacks.pop()
        for stack in stacks:
            yield Case(program, tuple(points), stack, 'staged', 0)


found = [*cases(ruled.logged, ruled._USES, ruled._RULES), *cases(ruled.stash, ruled._ORDERS)]
failures = [f for case in found if (f := failure_of(check, case))]
print(len(found), 'cases,', len(failures), 'failing', failures[:1])
"""


def test_every_use_of_references_in_rules() -> None:
    done = _run("-c", ALL_USES.format(planted=""))
    assert done.returncode == 0, done.stderr
    assert "cases, 0 failing" in done.stdout, done.stdout


def test_effects_of_backward_rules_out_of_turn_are_found() -> None:
    done = _run("-c", ALL_USES.format(planted=PLANTED_IN_REFERENCES))
    assert done.returncode == 0, done.stderr
    assert "Wrong" in done.stdout, done.stdout
