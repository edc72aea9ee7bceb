"""Primitives: one with rules, one with a decomposition, one with a region, one with an effect."""

from __future__ import annotations

from dovetail_core import (
    ClosedJaxpr,
    OrderedIOEffect,
    Primitive,
    call_interface,
    here,
    jaxpr_as_fun,
    typeof,
)

rotate_p = Primitive("api1.rotate")
rotate_p.def_traits(linear=((0,),), parameters={"by": "places"})


def rotate(x, by=1):
    """The elements of a vector, moved by some places; those that fall off come in again."""
    return rotate_p.bind(x, by=by)


@rotate_p.def_abstract_eval
def _rotate_type(x, *, by):
    if x.ndim != 1:
        raise TypeError(f"rotate takes a vector, got {x.str_short()}{here()}")
    return x


square_p = Primitive("api1.square")
square_p.def_abstract_eval(lambda x: x)


@square_p.def_decomposition
def _square(x):
    import dovetail_lax as lax

    return lax.mul(x, x)


both_p = Primitive("api1.both", multiple_results=True)
both_p.def_abstract_eval(lambda x, y: [x, y])
both_p.def_decomposition(lambda x, y: [square_p.bind(x), square_p.bind(y)])

run_p = Primitive("api1.run", multiple_results=True)
run_p.def_abstract_eval(lambda *avals, program: program.out_avals)
run_p.def_decomposition(lambda *args, program: jaxpr_as_fun(program)(*args))


@run_p.def_regions
def _run_regions(params):
    def rebuild(program: ClosedJaxpr, operands):
        return {"program": program}

    return call_interface(params["program"], rebuild)


note_p = Primitive("api1.note", multiple_results=True)
note_p.def_effectful_abstract_eval(lambda x: ([], {OrderedIOEffect("api1")}))
note_p.def_traits(effect_only=True)

pack_p, first_p = Primitive("api1.pack"), Primitive("api1.first")
for _high in (pack_p, first_p):
    _high.is_high = lambda **params: True


@pack_p.def_abstract_eval
def _pack_type(x, y):
    from .pair import PairType

    return PairType(x.shape)


first_p.def_abstract_eval(lambda pair: pair.lo_ty()[0])


def describe(x):
    """What a value is, for messages."""
    return typeof(x).str_short()
