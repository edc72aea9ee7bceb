"""The argument ``precision=`` of contractions, and the option that is its default."""

from __future__ import annotations

from typing import Any, TypeAlias

from dovetail_core import Option, config, here

from ..primitives.contractions import DotAlgorithm, DotAlgorithmPreset, Precision

PrecisionLike: TypeAlias = (
    str
    | Precision
    | DotAlgorithm
    | DotAlgorithmPreset
    | tuple[str, str]
    | tuple[Precision, Precision]
    | None
)
"""What ``precision=`` takes: None, a name, a member of ``Precision``, one for each operand, or an
algorithm."""


def canonical_precision(precision: Any) -> Any:
    """A pair of ``Precision``, an algorithm, or None; for None the value of the option.

    Raises:
        ValueError: it is none that is known; lists the names.
    """
    if precision is None:
        precision = default_precision.value
    return _known(precision, "got precision {!r}{}: it is None, ")


def convolution_precision(precision: Any) -> Any:
    """A pair of ``Precision``, or None; an algorithm that the option names is for products alone.

    Raises:
        ValueError: it is none that is known, or an algorithm.
    """
    result = canonical_precision(precision)
    if not isinstance(result, (DotAlgorithm, DotAlgorithmPreset)):
        return result
    if precision is None:
        return None
    raise ValueError(
        f"got precision {precision!r}{here()}: convolutions have no algorithms to choose from; "
        "give a Precision, its name, or None."
    )


def _known(precision: Any, complaint: str) -> Any:
    if precision is None or isinstance(precision, DotAlgorithm):
        return precision
    if isinstance(precision, str):
        precision = DotAlgorithmPreset.__members__.get(precision, precision)
    if isinstance(precision, DotAlgorithmPreset):
        return None if precision is DotAlgorithmPreset.DEFAULT else precision
    pair = precision if isinstance(precision, (tuple, list)) else (precision, precision)
    try:
        if len(pair) == 2:
            return tuple([Precision.DEFAULT if p is None else Precision(p) for p in pair])
    except ValueError:
        pass
    raise ValueError(
        f"{complaint.format(precision, here())}a Precision or its name ('default', 'high', "
        "'highest'), a pair of those for the two operands, a DotAlgorithmPreset or its name, or a "
        "DotAlgorithm."
    )


def _check_default(precision: Any) -> Any:
    _known(precision, "{!r} is no precision: expected None, ")
    return precision


default_matmul_precision = config.add(
    Option(
        "default_matmul_precision",
        None,
        "The precision of matrix products and convolutions that name none.",
        check=_check_default,
        traced=True,
    )
)
default_precision = default_matmul_precision.state
