"""Steps at the ends of ranges: poles in branches that are not taken, magnitudes that no result
shows, indices of narrow types into long axes."""

from __future__ import annotations

from .programs import kind_of
from .scope import Rejected, Scope

# A function with a pole or an infinite slope at 0, ours and NumPy's; branches for 0 are others.
_POLES = [
    ("dnp.log(y)", "np.log(y)"),
    ("dnp.sqrt(y)", "np.sqrt(y)"),
    ("1 / y", "1 / y"),
    ("y ** 0.3", "y ** 0.3"),
    ("dnp.arccosh(1 + y)", "np.arccosh(1 + y)"),
    ("dnp.arctan2(0 * y, y) + dnp.hypot(y, 0 * y)", "y"),
    ("w[1] * dnp.log(y * w[0])", "w[1] * np.log(y * w[0])"),
]
_MAPPED = [
    "dovetail.vmap(lambda y: lax.cond(y > 0, lambda y: {pole}, lambda y: y * 0.5, y))(x)",
    "dovetail.vmap(lambda y: lax.switch((y > 0).astype(np.int32), "
    "[lambda y: y * 0.5, lambda y: {pole}], y))(x)",
    "lax.map(lambda y: lax.cond(y > 0, lambda y: {pole}, lambda y: y * 0.5, y), x, batch_size=2)",
    "dnp.piecewise(x, [x > 0], [lambda y: {pole}, lambda y: y * 0.5])",
    "lax.scan(lambda c, z: (c, dovetail.vmap(lambda y: lax.cond(y > 0, lambda y: {pole}, "
    "lambda y: y * 0.5, y))(z)), None, x[None])[1][0]",
    "dovetail.vmap(lambda y: dovetail.checkpoint(lambda y: lax.cond("
    "y > 0, lambda y: {pole}, lambda y: y * 0.5, y))(y))(x)",
    "dovetail.vmap(lambda y: lax.scan(lambda c, _: (lax.cond("
    "c > 0, lambda y: {pole}, lambda y: y * 0.5, c) * 0 + y, lax.cond("
    "y > 0, lambda y: {pole}, lambda y: y * 0.5, y)), y, None, length=2)[1][1])(x)",
]


def pole(s: Scope) -> None:
    """A mapped branch with a pole where another one is taken."""
    a = s.pick(lambda x: x.dtype.name == "float64" and x.ndim > 0 and x.size > 0)
    ours, numpy = s.rng.choice(_POLES)
    body = s.rng.choice(_MAPPED).replace("{pole}", ours)
    # Elements are 0, or at least 0.1; what is closed over is mapped in no branch.
    values = "xp.where({0}.ravel() > 0, 0.1 + {0}.ravel(), 0.0)"
    weights = "1.5 + xp.sin({0}.ravel()[:1] * xp.ones(2))"
    s.add(
        "mapped branch",
        f"(lambda x, w: {body})({values}, {weights})".replace("xp.", "dnp."),
        f"(lambda x, w: np.where(x > 0, (lambda y: {numpy})(np.where(x > 0, x, 1.0)), x * 0.5))"
        f"({values}, {weights})".replace("xp.", "np."),
        a,
    )


_Y = "(1.5 + xp.sin({0}))"
# Of double precision; what is inside is large or small, the results and their slopes are not.
_EXTREME = [
    (f"dnp.arcsinh({_Y} * 1e200) * 0.01", f"(np.log({_Y}) + np.log(2e200)) * 0.01"),
    (f"dnp.arccosh({_Y} * 1e200) * 0.01", f"(np.log({_Y}) + np.log(2e200)) * 0.01"),
    (f"dnp.linalg.norm({_Y}.ravel() * 1e200) * 1e-200", f"np.linalg.norm({_Y}.ravel())"),
    (f"dnp.linalg.norm({_Y}.ravel() * 1e-200) * 1e200", f"np.linalg.norm({_Y}.ravel())"),
    (f"dnp.hypot({_Y} * 1e200, 1e200) * 1e-200", f"np.hypot({_Y}, 1.0)"),
    (f"abs(lax.complex({_Y} * 1e200, {_Y} * 1e200)) * 1e-200", f"{_Y} * np.sqrt(2.0)"),
    (f"dnp.arctan2({_Y}, 1e200) * 1e200", _Y),
    (f"dnp.logaddexp({_Y} * 1e3, {_Y} * 2e3) * 1e-3", f"{_Y} * 2"),
    ("nn.log_sigmoid({0} - 500) + 500", "{0}"),
    ("dnp.log(nn.sigmoid({0} - 500)) + 500", "{0}"),
    ("nn.logsumexp(dnp.stack([{0} + 1e3, {0} - 1e3]), 0) - 1e3", "{0}"),
    (f"nn.softmax(dnp.stack([1e3 * {_Y}, 0 * {_Y}]), 0)[0]", f"1 + 0 * {_Y}"),
    # Chains whose divisors or constants have products that are no numbers.
    (f"1e200 * {_Y} * (1 + {_Y}) / (1e200 * {_Y}) / 1e200 * 1e200", f"1 + {_Y}"),
    (f"1e-300 * {_Y} * 1e200 * 1e200 * 1e-100", _Y),
    (f"1e300 * {_Y} / 1e200 / 1e200 * 1e100", _Y),
    (f"(1e150 / (1e200 * {_Y})) ** 2 * 1e100", f"{_Y} ** -2.0"),
    (f"({_Y} / 1e200) / (1e-200 * {_Y} ** 2)", f"1 / {_Y}"),
    (f"1e200 * {_Y} / ((1e200 * {_Y}) / (2 + {_Y})) - 1", f"1 + {_Y}"),
    (f"(dnp.asarray(np.array(1e200)) * 1e-200 * {_Y}) ** 2 * 0.1", f"0.1 * {_Y} ** 2"),
]
# The second derivative of arcsinh at 1e200 is 1e-400, that of log at exp(-500) is 1e434.
_FAR_NAMES = ("dnp.arcsinh", "dnp.arccosh", "dnp.log(nn")
_FAR = [ours for ours, _ in _EXTREME if ours.startswith(_FAR_NAMES)]
# Slopes at far places, by the exponential or the power that they are.
_SLOPES = [
    ("nn.sigmoid", "40 + xp.sin({0})", "np.exp(-40 - np.sin({0}))", "1e17"),
    ("nn.softplus", "-40 + xp.sin({0})", "np.exp(-40 + np.sin({0}))", "1e17"),
    ("nn.elu", "-40 + xp.sin({0})", "np.exp(-40 + np.sin({0}))", "1e17"),
    ("nn.celu", "-40 + xp.sin({0})", "np.exp(-40 + np.sin({0}))", "1e17"),
    ("dnp.expm1", "-40 + xp.sin({0})", "np.exp(-40 + np.sin({0}))", "1e17"),
    ("dnp.tanh", "25 + xp.sin({0})", "4 * np.exp(-50 - 2 * np.sin({0}))", "1e21"),
    ("dnp.arctan", f"1e70 * {_Y}", f"1 / (1e140 * {_Y.replace('xp', 'np')} ** 2)", "1e140"),
    ("dnp.arcsinh", f"1e200 * {_Y}", f"1 / (1e200 * {_Y.replace('xp', 'np')})", "1e200"),
]
ORDERS = {"far value": 1, "far slope": 2}
"""Kinds of steps, and how many of two derivatives are out of the range of numbers."""


def _kind(s: Scope, kind: str) -> str:
    if kind in ORDERS and "farthest" in s.flags:
        raise Rejected
    return kind


def extreme(s: Scope) -> None:
    """Magnitudes near the ends of the range, of values or of slopes."""
    a = s.pick(lambda x: x.dtype.name == "float64" and x.size > 0)
    if s.rng.random() < 0.5 and "derivative" not in s.flags:
        f, at, slope, factor = s.rng.choice(_SLOPES)
        at = at.replace("xp.", "dnp.")
        flat = f"dovetail.vmap(dovetail.grad({f}))(({at}).ravel()) * {factor}"
        kind = _kind(s, "far slope" if "1e200" in at else "extreme slope")
        s.add(kind, f"({flat}).reshape({{0}}.shape)", f"({slope}) * {factor}", a)
        return
    ours, numpy = s.rng.choice(_EXTREME)
    kind = _kind(s, "far value" if ours in _FAR else "extreme")
    s.add(kind, ours.replace("xp.", "dnp."), numpy.replace("xp.", "np."), a)


_NARROW = [
    "xp.take(xp.resize({0}, 300), np.array([3, 200, 131], np.uint8))",
    "xp.take(xp.resize({0}, 200), np.array([3, -1, 127], np.int8))",
    "xp.resize({0}, 300)[np.array([255, 0], np.uint8)]",
    "xp.resize({0}, (2, 150))[:, np.array([127, 99], np.int8)]",
    "xp.take_along_axis(xp.resize({0}, 300), np.array([9, 200], np.uint8), 0)",
]
_NARROW_OURS = [
    (
        "dnp.resize({0}, 300).at[np.array([200, 131], np.uint8)].add({0}.ravel()[0])[130:203]"
        "[::10]",
        "written_numpy(np.resize({0}, 300), np.array([200, 131]), {0}.ravel()[0], 'add')[130:203]"
        "[::10]",
    ),
    (
        "lax.dynamic_slice(dnp.resize({0}, 300), (np.uint8(200),), (3,))",
        "np.resize({0}, 300)[200:203]",
    ),
    (
        "lax.dynamic_update_slice(dnp.resize({0}, 300), {0}.ravel()[:1], (np.uint8(210),))"
        "[205:215]",
        "written_numpy(np.resize({0}, 300), slice(210, 211), {0}.ravel()[:1])[205:215]",
    ),
    (
        "dovetail.vmap(lambda i: dnp.resize({0}, 300)[i])(np.array([2, 201], np.uint8))",
        "np.resize({0}, 300)[np.array([2, 201])]",
    ),
]


def narrow(s: Scope) -> None:
    """Indices of types that do not hold the length of the axis."""
    a = s.pick(lambda x: x.size > 0 and kind_of(x.dtype) in "fciu")
    if s.rng.random() < 0.5:
        text = s.rng.choice(_NARROW)
        s.add("narrow index", text.replace("xp.", "dnp."), text.replace("xp.", "np."), a)
        return
    ours, numpy = s.rng.choice(_NARROW_OURS)
    if "add" in ours and kind_of(s.values[a].dtype) in "iu":
        raise Rejected
    s.add("narrow index", ours, numpy, a)


OPERATIONS = [(3, pole), (3, extreme), (2, narrow)]
