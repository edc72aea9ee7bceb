"""Hostile distributions are installed beside Dovetail; programs without need of them are right."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ._hostile import HOSTILE, Distribution

LIMIT = 120.0
BATCH = 25

_PROGRAM = """
import dovetail, dovetail.numpy as jnp
def run():
    print(round(float(dovetail.jit(lambda x: jnp.sin(x) * 2)(1.0)), 4))
    print(round(float(dovetail.grad(lambda x: jnp.sum(jnp.sin(x) ** 2))(jnp.arange(3.0)).sum()), 4))
    print(dovetail.vmap(lambda x: x + 1)(jnp.arange(3)).tolist())
    try:
        dovetail.typeof(object())
    except TypeError:
        print("TypeError")
    print("num_cpu_devices = 1" in repr(dovetail.config))
    print(dovetail.friendly)
for attempt in range(9):
    try:
        run()
        break
    except KeyboardInterrupt:
        print("interrupted")
"""
_RESULT = ["1.6829", "0.1525", "[1, 2, 3]", "TypeError", "True", "7"]  # 2 sin 1; sin 2 + sin 4


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    kind = rng.choice([*HOSTILE])
    begin(kind)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _friendly().write(folder)
        made = [HOSTILE[kind](rng, 0)]
        for n in range(1, rng.choice([1, 1, 2, 3])):
            other = rng.choice([k for k in HOSTILE if k != "interrupted while it is imported"])
            made.append(HOSTILE[other](rng, n))
        for dist in made:
            dist.write(folder)
        variables = {k: v for d in made for k, v in d.variables.items()}
        made = [d for d in made if d.variables.items() <= variables.items()]  # not overwritten
        done = _run(folder, variables)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[-len(_RESULT) :] == _RESULT, (done.stdout, done.stderr)
        assert ("interrupted" in lines) == any(d.interrupts for d in made), done.stdout
        unread = "failed to import" in done.stderr  # a manifest, which may name any variable
        for dist in made:
            silent = dist.interrupts or (unread and dist.said.endswith("no setting"))
            assert dist.said in done.stderr or silent, (dist.said, done.stderr)
        if rng.random() < 0.5:
            _check_strict(folder, variables, made)


def _check_strict(folder: Path, variables: dict[str, str], made: list[Distribution]) -> None:
    strict = _run(folder, {**variables, "DOVETAIL_STRICT": "true"})
    blamed = [d for d in made if not d.interrupts]
    if blamed:
        assert strict.returncode == 1, strict.stderr
        last = strict.stderr.strip().splitlines()[-1]
        assert "dovetail_base.errors.PluginError: " in last, strict.stderr
        assert any(d.said in last for d in blamed), strict.stderr
    else:
        assert strict.returncode == 0, strict.stderr


def _friendly() -> Distribution:
    """A plugin of a third party that works, and goes on working."""
    return Distribution(
        "friendly", "names={'friendly': 'friendly_m:X'}", {"friendly_m": "X = 7\n"}, said=""
    )


def _run(folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**inherited, "PYTHONPATH": str(folder), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
