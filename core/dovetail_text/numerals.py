"""Numbers as text and back, to the last bit: signed zeros, infinities, NaN payloads, any dtype."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_REAL = r"(?:inf|nan(?:\(0x[0-9a-f]+\))?|\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
NUMERAL = rf"(?:[+-]?{_REAL}(?![\w.])|\([+-]?{_REAL}[+-]{_REAL}j\)|(?:True|False)(?![\w.]))"
"""A regular expression for the results of :func:`number_text`."""

_complex_parts = re.compile(rf"\(([+-]?{_REAL})([+-]{_REAL})j\)")


def number_text(x: Any) -> str:
    """The text of a number: a Python scalar or a NumPy one (ml_dtypes' included)."""
    if type(x) is int:
        return str(x)  # of any size
    scalar: Any = np.asarray(x)[()]
    if scalar.dtype.kind == "b":
        return str(bool(scalar))
    if scalar.dtype.kind == "c":
        real, imaginary = _real_text(scalar.real), _real_text(scalar.imag)
        return f"({real}{'' if imaginary.startswith('-') else '+'}{imaginary}j)"
    return str(int(scalar)) if _is_integer(scalar.dtype) else _real_text(scalar)


def number_value(text: str, dtype: Any = None) -> Any:
    """The number that ``text`` writes: a NumPy scalar of ``dtype``, else a Python scalar.

    Raises:
        ValueError: the text writes no number of that type.
    """
    if text in ("True", "False"):
        return text == "True" if dtype is None else np.dtype(dtype).type(text == "True")
    parts = _complex_parts.fullmatch(text)
    if dtype is None:
        if parts is not None:
            return _complex(parts, np.dtype(np.complex128)).item()
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else _real(text, np.float64).item()
    dt = np.dtype(dtype)
    if dt.kind == "c":
        if parts is None:
            raise ValueError(f"{text} is not a complex number: write (1.0+0.0j)")
        return _complex(parts, dt)
    return dt.type(int(text)) if _is_integer(dt) else _real(text, dt)


def _is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" or "int" in dtype.name  # ml_dtypes' int4 is of kind V


def _complex(parts: re.Match[str], dtype: np.dtype[Any]) -> Any:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    return np.array([_real(parts[1], part), _real(parts[2], part)]).view(dtype)[0]


def _real_text(x: Any) -> str:
    dtype: np.dtype[Any] = x.dtype
    with np.errstate(all="ignore"):  # signalling NaNs, and decimals that overflow a narrow type
        if np.isnan(x):
            bits, plain = _bits(x), _bits(dtype.type(np.nan))
            return "nan" if bits == plain else f"nan({bits:#x})"
        wide = float(x)
        return repr(wide if dtype == np.float64 else _shortest(wide, x))


def _shortest(wide: float, x: Any) -> float:
    """The number of fewest decimal digits that reads back as ``x``."""
    tries = (float(f"{wide:.{digits}g}") for digits in range(1, 17))
    return next((t for t in tries if x.dtype.type(t) == x), wide)


def _real(text: str, dtype: Any) -> Any:
    dt = np.dtype(dtype)
    if "(" in text:
        bits = int(text[text.index("(") + 1 : -1], 16)
        return np.array(bits, _unsigned(dt)).view(dt)[()]
    return dt.type(float(text))


def _bits(x: Any) -> int:
    return int(np.asarray(x).view(_unsigned(x.dtype))[()])


def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"u{dtype.itemsize}")
