"""Steps that work element by element."""

from __future__ import annotations

from .programs import kind_of
from .scope import Rejected, Scope

# dtype kinds, Dovetail, NumPy. What is inside keeps results small and away from poles.
_UNARY = [
    ("fc", "dnp.sin({0})", "np.sin({0})"),
    ("fc", "dnp.cos({0})", "np.cos({0})"),
    ("fc", "dnp.tanh(0.3 * {0})", "np.tanh(0.3 * {0})"),
    ("fc", "lax.tanh({0} * 0.25)", "np.tanh({0} * 0.25)"),
    ("fc", "dnp.exp(dnp.sin({0}))", "np.exp(np.sin({0}))"),
    ("fc", "-{0}", "-{0}"),
    ("fc", "0.5 * {0}", "0.5 * {0}"),
    ("fc", "{0} - 1.5", "{0} - 1.5"),
    ("fc", "1 / (2.5 + dnp.sin({0}))", "1 / (2.5 + np.sin({0}))"),
    ("fc", "lax.square({0})", "np.square({0})"),
    ("fc", "{0} ** 3 * 0.1", "{0} ** 3 * 0.1"),
    ("fc", "lax.optimization_barrier({0})", "{0}"),
    ("f", "{0} ** -2 * 0.01", "{0} ** -2.0 * 0.01"),
    ("f", "(1.5 + dnp.sin({0})) ** 0.3", "(1.5 + np.sin({0})) ** 0.3"),
    ("f", "dnp.log(1.5 + dnp.sin({0}))", "np.log(1.5 + np.sin({0}))"),
    ("f", "dnp.log1p({0} * {0})", "np.log1p({0} * {0})"),
    ("f", "dnp.sqrt(1 + {0} * {0})", "np.sqrt(1 + {0} * {0})"),
    ("f", "lax.rsqrt(1.5 + dnp.cos({0}))", "1 / np.sqrt(1.5 + np.cos({0}))"),
    ("f", "lax.cbrt(2 + dnp.sin({0}))", "np.cbrt(2 + np.sin({0}))"),
    ("f", "dnp.expm1(lax.tanh({0}))", "np.expm1(np.tanh({0}))"),
    ("f", "lax.logistic({0})", "1 / (1 + np.exp(-{0}))"),
    ("f", "dnp.arctan({0})", "np.arctan({0})"),
    ("f", "dnp.arcsinh({0})", "np.arcsinh({0})"),
    ("f", "dnp.arcsin(0.8 * dnp.tanh({0}))", "np.arcsin(0.8 * np.tanh({0}))"),
    ("f", "dnp.arccosh(1.5 + {0} * {0})", "np.arccosh(1.5 + {0} * {0})"),
    ("f", "dnp.sinh(dnp.cos({0}))", "np.sinh(np.cos({0}))"),
    ("f", "dnp.cosh(dnp.sin({0}))", "np.cosh(np.sin({0}))"),
    ("f", "dnp.tan(dnp.sin({0}))", "np.tan(np.sin({0}))"),
    ("f", "nn.softplus({0})", "np.logaddexp({0}, 0.0)"),
    ("f", "nn.silu({0})", "{0} / (1 + np.exp(-{0}))"),
    ("f", "abs({0})", "np.abs({0})"),
    ("f", "nn.relu({0})", "np.maximum({0}, 0)"),
    ("f", "dnp.clip({0}, -0.7, 0.9)", "np.clip({0}, -0.7, 0.9)"),
    ("f", "dnp.sign({0}) * {0}", "np.sign({0}) * {0}"),
    ("f", "dnp.floor({0}) + 0.5 * {0}", "np.floor({0}) + 0.5 * {0}"),
    ("f", "dnp.round({0} * 3)", "np.round({0} * 3)"),
    ("f", "dnp.nan_to_num({0})", "{0}"),
    ("f", "dovetail.ad_checkpoint.checkpoint_name(2 * {0}, 'kept')", "2 * {0}"),
    ("iu", "{0} * 3", "{0} * 3"),
    ("iu", "{0} + 1", "{0} + 1"),
    ("i", "-{0}", "-{0}"),
    ("i", "abs({0})", "np.abs({0})"),
    ("i", "{0} // 3", "{0} // 3"),
    ("iu", "{0} % 5", "{0} % 5"),
    ("iu", "~{0}", "~{0}"),
    ("iu", "{0} << 2", "{0} << 2"),
    ("iu", "{0} >> 1", "{0} >> 1"),
    ("u", "lax.population_count({0})", "np.bitwise_count({0}).astype({0}.dtype)"),
    ("i", "dnp.sign({0})", "np.sign({0})"),
    ("iu", "dnp.clip({0}, 1, 4)", "np.clip({0}, 1, 4)"),
    ("iu", "{0} ** 2", "{0} ** 2"),
    ("b", "~{0}", "~{0}"),
    ("c", "dnp.conj({0})", "np.conj({0})"),
    ("c", "dnp.exp(1j * dnp.real({0})) + 0 * {0}", "np.exp(1j * np.real({0})) + 0 * {0}"),
]
_WIDE = [  # of double precision only: they are not accurate enough elsewhere, or NumPy has none
    ("f", "lax.erf({0})", "scipy.special.erf({0})"),
    ("f", "lax.erfc({0})", "scipy.special.erfc({0})"),
    ("f", "lax.lgamma(1.6 + dnp.sin({0}))", "scipy.special.gammaln(1.6 + np.sin({0}))"),
    ("f", "lax.digamma(2.5 + dnp.sin({0}))", "scipy.special.digamma(2.5 + np.sin({0}))"),
    ("f", "nn.gelu({0}, approximate=False)", "{0} * scipy.special.ndtr({0})"),
]
_BINARY = [
    ("fciu", "{0} + {1}", "{0} + {1}"),
    ("fciu", "{0} - {1}", "{0} - {1}"),
    ("fciu", "{0} * {1}", "{0} * {1}"),
    ("fc", "{0} * dnp.cos({1})", "{0} * np.cos({1})"),
    ("fc", "{0} / (2.5 + dnp.sin({1}))", "{0} / (2.5 + np.sin({1}))"),
    ("f", "dnp.arctan2({0}, 1.5 + {1} * {1})", "np.arctan2({0}, 1.5 + {1} * {1})"),
    ("f", "dnp.hypot({0}, 1.5 + dnp.sin({1}))", "np.hypot({0}, 1.5 + np.sin({1}))"),
    ("f", "dnp.logaddexp({0}, {1})", "np.logaddexp({0}, {1})"),
    ("f", "(1.5 + dnp.sin({0})) ** dnp.tanh({1})", "(1.5 + np.sin({0})) ** np.tanh({1})"),
    ("fiu", "dnp.maximum({0}, {1})", "np.maximum({0}, {1})"),
    ("fiu", "dnp.minimum({0}, {1})", "np.minimum({0}, {1})"),
    ("i", "{0} // (abs({1} % 5) + 1)", "{0} // (np.abs({1} % 5) + 1)"),
    ("u", "{0} // ({1} % 5 + 1)", "{0} // ({1} % 5 + 1)"),
    ("iu", "{0} % ({1} % 5 + 1)", "{0} % ({1} % 5 + 1)"),
    ("iub", "{0} & {1}", "{0} & {1}"),
    ("iub", "{0} | {1}", "{0} | {1}"),
    ("iub", "{0} ^ {1}", "{0} ^ {1}"),
    ("iu", "{0} << ({1} % 4)", "{0} << ({1} % 4)"),
]
_LINEAR = [
    (
        "dovetail.custom_derivatives.linear_call(lambda r, x: dnp.cos(r) * x, lambda r, ct: "
        "dnp.cos(r) * ct, {0}, {1})",
        "np.cos({0}) * {1}",
    ),
    (
        "{r} = dovetail.custom_jvp("
        "lambda x: dovetail.pure_callback(np.sin, x, x, vmap_method='{how}'))\n"
        "{r}.defjvp(lambda xs, ts: ({r}(*xs), dnp.cos(xs[0]) * ts[0]))\n{r}({0}) + 0 * {1}",
        "np.sin({0}) + 0 * {1}",
    ),
    (
        "{r} = dovetail.custom_vjp(lambda x, y: x * dnp.sin(y))\n"
        "{r}.defvjp(lambda x, y: (x * dnp.sin(y), (x, y)), "
        "lambda xy, ct: (ct * dnp.sin(xy[1]), ct * xy[0] * dnp.cos(xy[1])))\n{r}({0}, {1})",
        "{0} * np.sin({1})",
    ),
    (
        "{r} = dovetail.custom_jvp(lambda n, x, y: n * dnp.sin(x) * y, nondiff_argnums=(0,))\n"
        "{r}.defjvp(lambda n, xs, ts: ({r}(n, *xs), n * (dnp.cos(xs[0]) * xs[1] * ts[0] "
        "+ dnp.sin(xs[0]) * ts[1])))\n{r}(2.0, {0}, {1})",
        "2.0 * np.sin({0}) * {1}",
    ),
    (
        "{r} = dovetail.custom_jvp(lambda x, y: x * dnp.sin(y))\n"
        "{r}.defjvps(lambda t, z, x, y: t * dnp.sin(y), lambda t, z, x, y: t * x * dnp.cos(y))\n"
        "{r}({0}, {1})",
        "{0} * np.sin({1})",
    ),
    (
        "{r} = dovetail.custom_jvp(lambda x, y: x * dnp.sin(y))\n"
        "{r}.defjvp(lambda xs, ts: (xs[0] * dnp.sin(xs[1]), dense(ts[0]) * dnp.sin(xs[1]) "
        "+ xs[0] * dnp.cos(xs[1]) * dense(ts[1])), symbolic_zeros=True)\n{r}({0}, {1})",
        "{0} * np.sin({1})",
    ),
    (
        "{r} = dovetail.custom_vjp(lambda x, y: (x * dnp.sin(y), y))\n"
        "{r}.defvjp(lambda x, y: ((x.value * dnp.sin(y.value), y.value), (x.value, y.value)), "
        "lambda xy, cts: (dense(cts[0]) * dnp.sin(xy[1]), dense(cts[0]) * xy[0] * dnp.cos(xy[1]) "
        "+ dense(cts[1])), symbolic_zeros=True)\n{r}({0}, {1})[0]",
        "{0} * np.sin({1})",
    ),
    (
        "{r} = dovetail.custom_vjp(lambda n, x, y: n * x * dnp.sin(y), nondiff_argnums=(0,))\n"
        "{r}.defvjp(lambda n, x, y: (n * x * dnp.sin(y), (x, y)), "
        "lambda n, xy, ct: (n * ct * dnp.sin(xy[1]), n * ct * xy[0] * dnp.cos(xy[1])))\n"
        "{r}(0.5, {0}, {1})",
        "0.5 * {0} * np.sin({1})",
    ),
]
_COMPARISONS = ["{0} < {1}", "{0} >= {1}", "{0} == {1}", "{0} != {1}"]


def unary(s: Scope) -> None:
    a = s.like("fciub")
    x = s.values[a]
    table = _UNARY + _WIDE if x.dtype == "float64" else _UNARY
    table = [row for row in table if kind_of(x.dtype) in row[0]]
    _, ours, numpy = s.rng.choice(table)
    s.add("elementwise", ours, numpy, a)


def binary(s: Scope) -> None:
    a, b = s.pair("fciub")
    table = [row for row in _BINARY if kind_of(s.values[a].dtype) in row[0]]
    _, ours, numpy = s.rng.choice(table)
    s.add("elementwise", ours, numpy, a, b)


def with_rules(s: Scope) -> None:
    """Functions with rules that are written by hand."""
    a = s.pick(lambda x: x.dtype.name == "float64")
    b = s.pick(lambda y: y.dtype == s.values[a].dtype and y.shape == s.values[a].shape)
    ours, numpy = s.rng.choice(_LINEAR)
    how = s.rng.choice(["sequential", "expand_dims", "broadcast_all"])
    s.add("by hand", ours.replace("{how}", how), numpy, a, b)


def comparison(s: Scope) -> None:
    a, b = s.pair("fiu")
    text = s.rng.choice(_COMPARISONS[:2] if kind_of(s.values[a].dtype) == "f" else _COMPARISONS)
    s.add("comparison", text, text, a, b)


def choice(s: Scope) -> None:
    """where, by a condition that is there or is made of a value."""
    a, b = s.pair("fciub")
    x = s.values[a]
    if s.rng.random() < 0.5 and kind_of(x.dtype) in "fiu":
        s.add("selection", "dnp.where({0} > 0, {0}, {1})", "np.where({0} > 0, {0}, {1})", a, b)
        return
    c = s.pick(lambda y: y.dtype == bool and y.shape in ((), x.shape))
    s.add("selection", "dnp.where({0}, {1}, {2})", "np.where({0}, {1}, {2})", c, a, b)


def clamp(s: Scope) -> None:
    a = s.like("fi")
    b = s.pick(lambda y: y.dtype == s.values[a].dtype and y.shape == s.values[a].shape)
    # Clamped once more, in a loop, a value would be on a bound, where there is no derivative.
    x = "{1} * 0.75" if kind_of(s.values[a].dtype) == "f" else "{1}"
    numpy = "np.minimum(np.maximum(X, {0} - 1), {0} + 1)".replace("X", x)
    s.add("selection", f"lax.clamp({{0}} - 1, {x}, {{0}} + 1)", numpy, a, b)


_TARGETS = {
    "f": ["float64", "float32", "int32"],
    "i": ["float64", "int32", "int8", "uint8", "bool"],
    "u": ["float32", "int32", "uint32"],
    "b": ["int32", "float64"],
    "c": [],
}


def conversion(s: Scope) -> None:
    """To another dtype; to integers only from what fits."""
    a = s.like("fiub")
    dtype = s.values[a].dtype
    targets = [t for t in _TARGETS[kind_of(dtype)] if t != dtype.name]
    if "narrow" in s.flags:  # keep what is inexact as it is
        targets = [t for t in targets if not (t.startswith("float") and kind_of(dtype) == "f")]
    if not targets:
        raise Rejected
    target = s.rng.choice(targets)
    text = f"{{0}}.astype(np.{target})" if target != "bool" else "{0}.astype(bool)"
    numpy = text
    if kind_of(dtype) == "f" and target == "int32":
        text, numpy = "dnp.floor({0}).astype(np.int32)", "np.floor({0}).astype(np.int32)"
    s.add("conversion", text, numpy, a)


def complex_parts(s: Scope) -> None:
    a = s.like("cf")
    x = s.values[a]
    if x.dtype.kind == "c":
        text = s.rng.choice(["{xp}.real({0})", "{xp}.imag({0})"])
        s.add("complex", text.replace("{xp}", "dnp"), text.replace("{xp}", "np"), a)
        return
    if x.dtype not in ("float64", "float32") or "complex" in s.flags:
        raise Rejected
    b = s.pick(lambda y: y.dtype == x.dtype and y.shape == x.shape)
    wide = "np.complex128" if x.dtype == "float64" else "np.complex64"
    s.add("complex", "lax.complex({0}, {1})", f"({{0}} + 1j * {{1}}).astype({wide})", a, b)


OPERATIONS = [
    (30, unary),
    (24, binary),
    (3, comparison),
    (2, with_rules),
    (5, choice),
    (2, clamp),
    (2, conversion),
    (2, complex_parts),
]
