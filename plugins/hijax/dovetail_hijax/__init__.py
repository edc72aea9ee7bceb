"""High types and primitives: values made of arrays that transformations see whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from dovetail_ad import (
        SymbolicZero as Zero,
        instantiate_zeros as instantiate_zeros,
        is_linear as is_undefined_primal,
    )
    from dovetail_core import (
        AbstractValue as AbstractValue,
        HiType as HiType,
        ShapedArray as ShapedArray,
        lower_to_lo as lower_to_lo,
        register_hitype as register_hitype,
    )
    from dovetail_refs import (
        AbstractRef as AbstractRef,
        TransformedRef as TransformedRef,
    )

    from .box import (
        Box as Box,
        MutableHiType as MutableHiType,
        box_get as box_get,
        box_set as box_set,
        new_box as new_box,
    )
    from .classes import (
        VJPHiPrimitive as VJPHiPrimitive,
    )
    from .primitive import (
        HiPrimitive as HiPrimitive,
    )
    from .types import (
        HiPspec as HiPspec,
        aval_method as aval_method,
        aval_property as aval_property,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "AbstractRef": "=dovetail_refs",
    "AbstractValue": "=dovetail_core",
    "Box": "box",
    "HiPrimitive": "primitive",
    "HiPspec": "types",
    "HiType": "=dovetail_core",
    "MutableHiType": "box",
    "ShapedArray": "=dovetail_core",
    "TransformedRef": "=dovetail_refs",
    "VJPHiPrimitive": "classes",
    "Zero": "=dovetail_ad:SymbolicZero",
    "aval_method": "types",
    "aval_property": "types",
    "box_get": "box",
    "box_set": "box",
    "instantiate_zeros": "=dovetail_ad",
    "is_undefined_primal": "=dovetail_ad:is_linear",
    "lower_to_lo": "=dovetail_core",
    "new_box": "box",
    "register_hitype": "=dovetail_core",
}
__all__ = [
    "AbstractRef",
    "AbstractValue",
    "Box",
    "HiPrimitive",
    "HiPspec",
    "HiType",
    "MutableHiType",
    "ShapedArray",
    "TransformedRef",
    "VJPHiPrimitive",
    "Zero",
    "aval_method",
    "aval_property",
    "box_get",
    "box_set",
    "instantiate_zeros",
    "is_undefined_primal",
    "lower_to_lo",
    "new_box",
    "register_hitype",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
