"""High types and primitives: values made of arrays that transformations treat as one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_ad import instantiate_zeros as instantiate_zeros
    from dovetail_core import (
        AbstractValue as AbstractValue,
        HiType as HiType,
        ShapedArray as ShapedArray,
        lower_to_lo as lower_to_lo,
    )
    from dovetail_hijax.box import (
        Box as Box,
        box_get as box_get,
        box_set as box_set,
        new_box as new_box,
    )
    from dovetail_hijax.classes import VJPHiPrimitive as VJPHiPrimitive
    from dovetail_hijax.primitive import HiPrimitive as HiPrimitive
    from dovetail_hijax.rule_results import Zero as Zero, is_undefined_primal as is_undefined_primal
    from dovetail_hijax.states import (
        AvalMutableQDD as AvalMutableQDD,
        AvalQDD as AvalQDD,
        cur_qdd as cur_qdd,
        register_hitype as register_hitype,
    )
    from dovetail_hijax.types import (
        HiPspec as HiPspec,
        MutableHiType as MutableHiType,
        aval_method as aval_method,
        aval_property as aval_property,
    )
    from dovetail_refs import AbstractRef as AbstractRef, TransformedRef as TransformedRef
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
