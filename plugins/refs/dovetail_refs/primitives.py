"""The primitives of references: making, reading, writing, accumulating, freezing and freeing them.

``ref.get``, ``ref.set``, ``ref.swap`` and ``ref.addupdate`` take the reference, the value if there
is one, and the operands of the index, whose static part is the parameter ``index`` (see
``indexing``). A value has exactly the type of the reference's contents at the index.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import AccumulateEffect, Primitive, ReadEffect, ShapedArray, WriteEffect

from .indexing import Chain, indexed_type
from .types import AbstractRef

READ, WRITE, ACCUMULATE = ReadEffect(0), WriteEffect(0), AccumulateEffect(0)

new_p = Primitive("ref.new", allocates=True)
empty_p = Primitive("ref.empty", allocates=True)
get_p = Primitive("ref.get", stateful=True)
set_p = Primitive("ref.set", stateful=True, multiple_results=True)
swap_p = Primitive("ref.swap", stateful=True)
addupdate_p = Primitive("ref.addupdate", stateful=True, multiple_results=True)
freeze_p = Primitive("ref.freeze", stateful=True)
free_p = Primitive("ref.free", stateful=True, multiple_results=True)
for _p in (get_p, set_p, swap_p, addupdate_p):
    _p.def_traits(parameters={"index": "the static part of the index"})
new_p.def_traits(
    parameters={"kind": "the kind of the reference, if not the usual one"}, divides=True
)
empty_p.def_traits(parameters={"aval": "the type of its contents"})

VERBS = {set_p: "written", swap_p: "written", addupdate_p: "added"}
"""The primitives that change the contents of a reference, with their verbs for messages."""


@new_p.def_abstract_eval
def _new(x: Any, *, kind: str | None = None) -> Any:
    return AbstractRef(x, None, kind)


@empty_p.def_abstract_eval
def _empty(*, aval: ShapedArray) -> Any:
    return AbstractRef(aval)


def _check(name: str, ref: Any, value: Any, result: ShapedArray) -> None:
    if value.strong().without_sharding() != result.without_sharding():
        raise TypeError(
            f"{name} puts a value of type {value.str_short()} where {ref.str_short()} has "
            f"{result.str_short()}"
        )


@get_p.def_effectful_abstract_eval
def _get(ref: Any, *operands: Any, index: Chain) -> Any:
    return indexed_type(ref.inner_aval, index, operands), {READ}


@set_p.def_effectful_abstract_eval
def _set(ref: Any, value: Any, *operands: Any, index: Chain) -> Any:
    _check("ref.set", ref, value, indexed_type(ref.inner_aval, index, operands))
    return [], {WRITE}


@swap_p.def_effectful_abstract_eval
def _swap(ref: Any, value: Any, *operands: Any, index: Chain) -> Any:
    result = indexed_type(ref.inner_aval, index, operands)
    _check("ref.swap", ref, value, result)
    return result, {READ, WRITE}


@addupdate_p.def_effectful_abstract_eval
def _addupdate(ref: Any, value: Any, *operands: Any, index: Chain) -> Any:
    _check("ref.addupdate", ref, value, indexed_type(ref.inner_aval, index, operands))
    return [], {ACCUMULATE}


@freeze_p.def_effectful_abstract_eval
def _freeze(ref: Any) -> Any:
    return ref.inner_aval, {READ}


@free_p.def_effectful_abstract_eval
def _free(ref: Any) -> Any:
    return [], {WRITE}
