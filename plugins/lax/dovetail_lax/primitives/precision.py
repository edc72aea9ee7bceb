"""How exactly products are summed: ``Precision``, ``DotAlgorithm`` and named algorithms."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np

from ..lattice import BFLOAT16, FP8
from ._elementwise import place


class Precision(enum.Enum):
    """How exactly accelerators multiply 32-bit floats; CPUs always do it exactly."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        return _PRECISION_NAMES.get(value) if isinstance(value, str) else None  # type: ignore[arg-type]


_PRECISION_NAMES = {
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}


class DotAlgorithm(NamedTuple):
    """What types a contraction multiplies and accumulates in, on platforms that offer a choice."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class Recipe(NamedTuple):
    """How a named algorithm multiplies: in what types, and as what operands may be stored for it.

    No types of operands: those of the operands themselves, which must be 8-bit floats.
    """

    multiplied: str | None
    summed: str
    stored: tuple[str, ...] = ()
    products: int = 1
    imprecise: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Named algorithms of contractions: types of the products' operands, and of their sum.

    ``X3``, ``X6`` and ``X9`` split 32-bit operands into parts of fewer bits and sum that many
    products of parts. Which of them a device offers is known when a program is lowered for it.
    """

    DEFAULT = None
    ANY_F8_ANY_F8_F32 = Recipe(None, "f32")
    ANY_F8_ANY_F8_F32_FAST_ACCUM = Recipe(None, "f32", imprecise=True)
    ANY_F8_ANY_F8_ANY = Recipe(None, "any")
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = Recipe(None, "any", imprecise=True)
    F16_F16_F16 = Recipe("f16", "f16", ("f16",))
    F16_F16_F32 = Recipe("f16", "f32", ("f16",))
    BF16_BF16_BF16 = Recipe("bf16", "bf16", ("bf16", "f32"))
    BF16_BF16_F32 = Recipe("bf16", "f32", ("bf16", "f32"))
    BF16_BF16_F32_X3 = Recipe("bf16", "f32", ("f32",), 3)
    BF16_BF16_F32_X6 = Recipe("bf16", "f32", ("f32",), 6)
    BF16_BF16_F32_X9 = Recipe("bf16", "f32", ("f32",), 9)
    TF32_TF32_F32 = Recipe("tf32", "f32", ("f32",))
    TF32_TF32_F32_X3 = Recipe("tf32", "f32", ("f32",), 3)
    F32_F32_F32 = Recipe("f32", "f32", ("f32",))
    F64_F64_F64 = Recipe("f64", "f64", ("f64",))

    def __repr__(self) -> str:
        return f"DotAlgorithmPreset.{self.name}"

    def __str__(self) -> str:
        return self.name


STORED_TYPES = {
    "f16": np.dtype(np.float16), "bf16": BFLOAT16,
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
}  # fmt: skip


def check_algorithm(precision: Any, lhs: Any, rhs: Any) -> None:
    """Raise TypeError where a named algorithm takes 8-bit floats and gets other operands."""
    recipe: Any = precision.value if isinstance(precision, DotAlgorithmPreset) else None
    if recipe and recipe.multiplied is None and not (lhs in FP8 and rhs in FP8):
        raise TypeError(
            f"lax.dot_general got {precision} for operands of types {lhs.name} and {rhs.name}"
            f"{place()}: it multiplies 8-bit floats. Convert the operands, or name another."
        )


__all__ = ["STORED_TYPES", "DotAlgorithm", "DotAlgorithmPreset", "Precision", "check_algorithm"]
