"""Public functions are called with wrong arguments; every error says what is wrong, and where."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

from ..inputs.mutation import random_wrong
from ..inputs.trying import ready, try_one

LIMIT = 60.0
BATCH = 400


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    names = _names()
    wrong = random_wrong(rng, names)
    begin(wrong.kind)
    outcome = try_one(wrong, names)
    assert outcome.judgement != "internal", f"{wrong.text}\n{outcome.text}\n{outcome.where}"


@cache
def _names() -> dict[str, Any]:
    return ready()
