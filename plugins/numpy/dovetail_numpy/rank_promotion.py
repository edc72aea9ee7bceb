"""The option that says whether arrays of different ranks may broadcast together."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail_base.source import warn_here
from dovetail_core import Option, config

from .asking import asked_by_library
from .operands import ShapeError, here

Shape = tuple[int, ...]
_CHOICES = ("allow", "warn", "raise")


def _check(value: object) -> object:
    if value not in _CHOICES:
        raise ValueError(f"numpy_rank_promotion is one of {', '.join(_CHOICES)}, not {value!r}")
    return value


numpy_rank_promotion = config.add(
    Option(
        "numpy_rank_promotion",
        "allow",
        "Whether arrays of different numbers of axes, scalars aside, may broadcast together "
        "('allow', 'warn' or 'raise').",
        check=_check,
        traced=True,
    )
)
rank_promotion = numpy_rank_promotion.state


def ranks_allowed() -> str:
    """The option as it applies to whoever asks."""
    chosen = rank_promotion.value
    return chosen if chosen == "allow" or not asked_by_library() else "allow"


def mixes_ranks(shapes: Sequence[Shape]) -> bool:
    """Whether shapes, those of scalars aside, have different numbers of axes."""
    return len({len(s) for s in shapes if s}) > 1


def check_ranks(name: str, shapes: Sequence[Shape]) -> None:
    """Warn of different ranks, or refuse them, as the option says.

    Raises:
        ShapeError: it says ``raise``; names the function and the shapes.
    """
    if not mixes_ranks(shapes):
        return
    text = (
        f"{name} got shapes of different numbers of axes: {', '.join(map(str, shapes))}{here()}. "
        "Add the axes that are missing (x[None], or expand_dims), or set the option "
        "numpy_rank_promotion to 'allow'."
    )
    if rank_promotion.value == "raise":
        raise ShapeError(f"operands could not be broadcast together: {text}")
    warn_here(text, UserWarning)
