"""What an error is worth to the user: clear, nameless, unclear, or the library's own mistake."""

from __future__ import annotations

import dis
import re
import sys
from types import TracebackType
from typing import Any

from .evaluation import FILE
from .mutation import Wrong

CLEAR, NAMELESS, UNCLEAR, INTERNAL = "clear", "nameless", "unclear", "internal"

_INTERNAL = (
    AttributeError,
    IndexError,
    KeyError,
    AssertionError,
    NameError,
    RecursionError,
    ZeroDivisionError,
    StopIteration,
)
_PYTHONS_OWN = re.compile(r"\(\) (got|missing|takes)\b|got an unexpected keyword argument")
_OURS = re.compile(r"/dovetail(_\w+)?/")


def judge(error: BaseException, wrong: Wrong, names: dict[str, Any]) -> str:
    """The class of an error that a wrong input caused."""
    frames = _frames(error.__traceback__)
    file, raised = frames[-1]
    text = _text(error)
    if "the user's own error" in text or file.endswith("evaluation.py"):
        return CLEAR  # of functions and objects that were passed in
    if isinstance(error, OSError):
        return CLEAR  # the system's own, of the file that was named
    if isinstance(error, TypeError) and _PYTHONS_OWN.search(text):
        return CLEAR
    if not _OURS.search(file):
        if file == FILE:
            return CLEAR  # Python's: the text itself is wrong
        return INTERNAL if isinstance(error, _INTERNAL) else UNCLEAR
    if not raised:
        return INTERNAL if isinstance(error, _INTERNAL) else UNCLEAR
    return CLEAR if _says_enough(text, wrong, names) else NAMELESS


def _frames(traceback: TracebackType | None) -> list[tuple[str, bool]]:
    """The files of a traceback, and whether each raised, or called what did."""
    result: list[tuple[str, bool]] = []
    while traceback is not None:
        code, at = traceback.tb_frame.f_code, traceback.tb_lasti
        opcode = dis.opname[code.co_code[at]]
        result.append((code.co_filename, opcode in ("RAISE_VARARGS", "RERAISE")))
        traceback = traceback.tb_next
    return result


def _text(error: BaseException) -> str:
    try:
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    except Exception:
        return ""


def _says_enough(text: str, wrong: Wrong, names: dict[str, Any]) -> bool:
    place = FILE in text or "evaluation.py:" in text
    function = _names_function(text, wrong)
    argument = _names_argument(text, wrong, names)
    return (place and (function or argument)) or (function and argument)


def _names_function(text: str, wrong: Wrong) -> bool:
    name = re.split(r"\W+", re.sub(r"\(.*\)|\[.*\]", "", wrong.function))
    words = set(re.split(r"\W+", text))
    said = {n for n in name if n and n not in ("dv", "v", "m", "t", "b", "c", "i")}
    said |= {re.sub(r"^tree_|_p$", "", n) for n in said}
    stems = {n.strip("_") for n in said}
    return bool((said | stems) & words) or any(len(n) > 3 and n in text for n in stems)


def _names_argument(text: str, wrong: Wrong, names: dict[str, Any]) -> bool:
    words = set(re.split(r"\W+", text))
    for argument in wrong.arguments:
        if isinstance(argument, str) and argument in words:
            return True
    if words & {"position", "argument", "arguments", "operand", "operands"}:
        return True
    shown: list[str] = []
    for value in wrong.values:
        shown.append(value)
        try:
            thing = eval(value, dict(names))
            shown += [repr(thing)[:20], type(thing).__name__, str(getattr(thing, "shape", None))]
        except Exception:
            continue
    return any(s and s in text for s in shown)


def stop_recursion_early() -> None:
    """A limit that makes endless recursion quick."""
    sys.setrecursionlimit(min(sys.getrecursionlimit(), 1000))
