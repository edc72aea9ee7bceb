"""Element types: questions about them, and JAX's type promotion with weak types."""

from __future__ import annotations

from ml_dtypes import bfloat16 as bfloat16

from dovetail_core import float0 as float0

from .element_types import (
    ImaginaryPartLost as ImaginaryPartLost,
    as_dtype as as_dtype,
    canonicalize_dtype as canonicalize_dtype,
    dtype_of as dtype_of,
    extended as extended,
    finfo as finfo,
    iinfo as iinfo,
    is_weakly_typed as is_weakly_typed,
    issubdtype as issubdtype,
    itemsize_bits as itemsize_bits,
    kind_of as kind_of,
    prng_key as prng_key,
    scalar_dtype as scalar_dtype,
    scalar_type_of as scalar_type_of,
    warn_imaginary as warn_imaginary,
)
from .promotion import (
    TypePromotionError as TypePromotionError,
    common_type as common_type,
    numpy_dtype_promotion as numpy_dtype_promotion,
    promote_types as promote_types,
    result_type as result_type,
)

__all__ = [
    "TypePromotionError", "bfloat16", "canonicalize_dtype", "extended", "finfo", "float0", "iinfo",
    "issubdtype", "itemsize_bits", "prng_key", "promote_types", "result_type", "scalar_type_of",
]  # fmt: skip
