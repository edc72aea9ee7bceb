"""``import dovetail.dtypes``: the names of dovetail_lax.dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_lax.dtypes import (
        TypePromotionError as TypePromotionError,
        bfloat16 as bfloat16,
        canonicalize_dtype as canonicalize_dtype,
        extended as extended,
        finfo as finfo,
        float0 as float0,
        iinfo as iinfo,
        issubdtype as issubdtype,
        itemsize_bits as itemsize_bits,
        prng_key as prng_key,
        promote_types as promote_types,
        result_type as result_type,
        scalar_type_of as scalar_type_of,
    )

_WHERE = {
    "TypePromotionError": ("lax", "dovetail_lax.dtypes:TypePromotionError"),
    "bfloat16": ("lax", "dovetail_lax.dtypes:bfloat16"),
    "canonicalize_dtype": ("lax", "dovetail_lax.dtypes:canonicalize_dtype"),
    "extended": ("lax", "dovetail_lax.dtypes:extended"),
    "finfo": ("lax", "dovetail_lax.dtypes:finfo"),
    "float0": ("lax", "dovetail_lax.dtypes:float0"),
    "iinfo": ("lax", "dovetail_lax.dtypes:iinfo"),
    "issubdtype": ("lax", "dovetail_lax.dtypes:issubdtype"),
    "itemsize_bits": ("lax", "dovetail_lax.dtypes:itemsize_bits"),
    "prng_key": ("lax", "dovetail_lax.dtypes:prng_key"),
    "promote_types": ("lax", "dovetail_lax.dtypes:promote_types"),
    "result_type": ("lax", "dovetail_lax.dtypes:result_type"),
    "scalar_type_of": ("lax", "dovetail_lax.dtypes:scalar_type_of"),
}
__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "promote_types",
    "result_type",
    "scalar_type_of",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
