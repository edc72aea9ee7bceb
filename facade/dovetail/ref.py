"""``import dovetail.ref``: the names of dovetail_refs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_refs import (
        AbstractRef as AbstractRef,
        Ref as Ref,
        TransformedRef as TransformedRef,
        addupdate as addupdate,
        discharge as discharge,
        empty_ref as empty_ref,
        free_ref as free_ref,
        freeze as freeze,
        get as get,
        new_ref as new_ref,
        run_state as run_state,
        set as set,
        swap as swap,
    )

_WHERE = {
    "AbstractRef": ("refs", "dovetail_refs:AbstractRef"),
    "Ref": ("refs", "dovetail_refs:Ref"),
    "TransformedRef": ("refs", "dovetail_refs:TransformedRef"),
    "addupdate": ("refs", "dovetail_refs:addupdate"),
    "discharge": ("refs", "dovetail_refs:discharge"),
    "empty_ref": ("refs", "dovetail_refs:empty_ref"),
    "free_ref": ("refs", "dovetail_refs:free_ref"),
    "freeze": ("refs", "dovetail_refs:freeze"),
    "get": ("refs", "dovetail_refs:get"),
    "new_ref": ("refs", "dovetail_refs:new_ref"),
    "run_state": ("refs", "dovetail_refs:run_state"),
    "set": ("refs", "dovetail_refs:set"),
    "swap": ("refs", "dovetail_refs:swap"),
}
__all__ = [
    "AbstractRef",
    "Ref",
    "TransformedRef",
    "addupdate",
    "discharge",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "run_state",
    "set",
    "swap",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
