"""One wrong input, tried and judged."""

from __future__ import annotations

import resource
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

from .evaluation import evaluate, namespace
from .judging import judge
from .mutation import Wrong

_MEMORY = 24 << 30  # of addresses: jaxlib's threads and arenas reserve many that they never use


@dataclass(frozen=True)
class Outcome:
    """What became of a wrong input."""

    judgement: str
    text: str = ""
    where: str = ""


def ready() -> dict[str, Any]:
    """The names that texts use; from here on the process cannot take all of the memory."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    return namespace("dovetail")


def try_one(wrong: Wrong, names: dict[str, Any]) -> Outcome:
    """Evaluate a wrong input and judge what is said of it."""
    try:
        evaluate(wrong.text, names)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}:{last.lineno} {last.line}"
        said = traceback.format_exception_only(error)[-1].strip()
        return Outcome(judge(error, wrong, names), said, where)
    return Outcome("accepted")
