"""Steps with references: what functions with no rules of their own read and write."""

from __future__ import annotations

from collections.abc import Callable

from .regions import Fill, region, result_like
from .scope import Scope

_REFS = [
    (
        "{r} = dovetail.new_ref({0})\n{r}[...] = {f}({r}[...])[0]\n({r}[...],)",
        "{f}({0})",
    ),
    (
        "{r} = dovetail.new_ref({0})\n"
        "lax.fori_loop(0, 2, lambda i, c: {r}.__setitem__(..., {f}({r}[...])[0]), None)\n"
        "(dovetail.freeze({r}),)",
        "{f}(*{f}({0}))",
    ),
    (
        "{r} = dovetail.new_ref({0})\n"
        "lax.scan(lambda c, x: ({f}(c)[0], dovetail.ref.addupdate({r}, ..., 0.5 * c)),"
        " {0}, None, 2)\n"
        "({r}[...],)",
        "(1.5 * {0} + 0.5 * {f}({0})[0],)",
    ),
    (
        "(dovetail.ref.run_state(lambda r: r.__setitem__(..., {f}(r[...])[0]))({0}),)",
        "{f}({0})",
    ),
    (
        "{r} = dovetail.new_ref({0})\n"
        "dovetail.jit(lambda r: r.__setitem__(..., {f}(r[...])[0] + r[...]))({r})\n"
        "({r}[...],)",
        "({f}({0})[0] + {0},)",
    ),
    (
        "{r} = dovetail.new_ref({0})\n"
        "dovetail.checkpoint(lambda: {r}.__setitem__(..., {f}({r}[...])[0]))()\n"
        "({r}[...],)",
        "{f}({0})",
    ),
    (
        "{r} = dovetail.new_ref(dnp.stack([{0}, {0}]))\n"
        "dovetail.vmap(lambda r, x: r.__setitem__(..., {f}(r[...] * x)[0]))"
        "({r}, np.array([0.5, 1.0]))\n"
        "({r}[1],)",
        "{f}({0})",
    ),
    (
        "{r} = dovetail.new_ref({0})\n"
        "lax.cond({0}.sum() > 0, lambda: {r}.__setitem__(..., {f}({r}[...])[0]), lambda: None)\n"
        "({r}[...],)",
        "({f}({0})[0] if {0}.sum() > 0 else {0},)",
    ),
]


def reference(s: Scope, fill: Fill) -> None:
    a = s.pick(lambda x: x.dtype.name == "float64")
    ours, numpy = s.rng.choice(_REFS[:-1] if "cond writes" in s.flags else _REFS)
    without = frozenset({"cond writes"}) if "vmap" in ours else frozenset[str]()
    inner, (p,) = region(s, fill, [s.values[a]], without=without)
    out = result_like(inner, p)
    kind = "cond writes" if "lax.cond" in ours else "ref"
    s.add(kind, ours, numpy, a, regions=(inner.program(out),))


STEPS: list[tuple[int, Callable[[Scope, Fill], None]]] = [(3, reference)]
