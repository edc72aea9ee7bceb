"""Structured arrays where arrays are expected: a third-party Dovetail plugin."""

from dovetail_core import hide_frames

from .interpreter import (
    Dense as Dense,
    DenseError as DenseError,
    DenseWarning as DenseWarning,
    dense as dense,
    register as register,
    structured as structured,
    structured_dense as structured_dense,
)
from .structures import (
    COO as COO,
    Diagonal as Diagonal,
    LoRA as LoRA,
    Matrix as Matrix,
    Zeros as Zeros,
    coo as coo,
    diagonal as diagonal,
    lora as lora,
    zeros as zeros,
)
from .values import Structured as Structured, part as part, structure as structure, update as update

hide_frames(__name__)  # a mistake is in the line that uses this package
