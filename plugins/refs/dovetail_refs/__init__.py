"""Mutable references: arrays that programs read and write in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .discharging import (
        discharge as discharge,
        discharge_program as discharge_program,
    )
    from .functions import (
        addupdate as addupdate,
        empty_ref as empty_ref,
        free_ref as free_ref,
        freeze as freeze,
        get as get,
        new_ref as new_ref,
        run_state as run_state,
        set as set,
        swap as swap,
    )
    from .tables import (
        DischargeRule as DischargeRule,
        discharge_rules as discharge_rules,
    )
    from .types import (
        AbstractRef as AbstractRef,
    )
    from .value import (
        Ref as Ref,
    )
    from .views import (
        TransformedRef as TransformedRef,
    )

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "AbstractRef": "types",
    "DischargeRule": "tables",
    "Ref": "value",
    "TransformedRef": "views",
    "addupdate": "functions",
    "discharge": "discharging",
    "discharge_program": "discharging",
    "discharge_rules": "tables",
    "empty_ref": "functions",
    "free_ref": "functions",
    "freeze": "functions",
    "get": "functions",
    "new_ref": "functions",
    "run_state": "functions",
    "set": "functions",
    "swap": "functions",
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

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
