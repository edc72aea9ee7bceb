"""``import dovetail.hijax``: the names of dovetail_hijax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_hijax import (
        AbstractRef as AbstractRef,
        AbstractValue as AbstractValue,
        Box as Box,
        HiPrimitive as HiPrimitive,
        HiPspec as HiPspec,
        HiType as HiType,
        MutableHiType as MutableHiType,
        ShapedArray as ShapedArray,
        TransformedRef as TransformedRef,
        VJPHiPrimitive as VJPHiPrimitive,
        Zero as Zero,
        aval_method as aval_method,
        aval_property as aval_property,
        box_get as box_get,
        box_set as box_set,
        instantiate_zeros as instantiate_zeros,
        is_undefined_primal as is_undefined_primal,
        lower_to_lo as lower_to_lo,
        new_box as new_box,
        register_hitype as register_hitype,
    )

_WHERE = {
    "AbstractRef": ("hijax", "dovetail_hijax:AbstractRef"),
    "AbstractValue": ("hijax", "dovetail_hijax:AbstractValue"),
    "Box": ("hijax", "dovetail_hijax:Box"),
    "HiPrimitive": ("hijax", "dovetail_hijax:HiPrimitive"),
    "HiPspec": ("hijax", "dovetail_hijax:HiPspec"),
    "HiType": ("hijax", "dovetail_hijax:HiType"),
    "MutableHiType": ("hijax", "dovetail_hijax:MutableHiType"),
    "ShapedArray": ("hijax", "dovetail_hijax:ShapedArray"),
    "TransformedRef": ("hijax", "dovetail_hijax:TransformedRef"),
    "VJPHiPrimitive": ("hijax", "dovetail_hijax:VJPHiPrimitive"),
    "Zero": ("hijax", "dovetail_hijax:Zero"),
    "aval_method": ("hijax", "dovetail_hijax:aval_method"),
    "aval_property": ("hijax", "dovetail_hijax:aval_property"),
    "box_get": ("hijax", "dovetail_hijax:box_get"),
    "box_set": ("hijax", "dovetail_hijax:box_set"),
    "instantiate_zeros": ("hijax", "dovetail_hijax:instantiate_zeros"),
    "is_undefined_primal": ("hijax", "dovetail_hijax:is_undefined_primal"),
    "lower_to_lo": ("hijax", "dovetail_hijax:lower_to_lo"),
    "new_box": ("hijax", "dovetail_hijax:new_box"),
    "register_hitype": ("hijax", "dovetail_hijax:register_hitype"),
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

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
