"""Structured arrays where arrays are expected: a third-party Dovetail plugin."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .counting import dot_flops as dot_flops
    from .interpreter import (
        Dense as Dense,
        DenseError as DenseError,
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
        update as update,
        zeros as zeros,
    )
    from .values import (
        Structured as Structured,
        make as make,
        part as part,
        structure as structure,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
