"""Steps that join elements: reductions, products, sorting, linear algebra."""

from __future__ import annotations

from .programs import kind_of
from .scope import Rejected, Scope


def _both(s: Scope, kind: str, text: str, *args: str) -> None:
    s.add(kind, text.replace("xp.", "dnp."), text.replace("xp.", "np."), *args)


_REDUCTIONS = [
    ("fci", "xp.sum({0}{axis}, dtype={0}.dtype)"),
    ("fc", "xp.mean({0}{axis})"),
    ("fc", "xp.sum({0}{axis}, keepdims=True)"),
    ("fi", "xp.max({0}{axis})"),
    ("fi", "xp.min({0}{axis})"),
    ("fi", "xp.max({0}{axis}, keepdims=True)"),
    ("f", "xp.prod(1 + 0.1 * {0}{axis})"),
    ("f", "xp.var({0}{axis})"),
    ("b", "xp.any({0}{axis})"),
    ("b", "xp.all({0}{axis})"),
    ("fi", "xp.argmax({0}{axis}).astype(np.int32)"),
    ("fi", "xp.argmin({0}{axis}).astype(np.int32)"),
    ("f", "xp.sqrt(1 + xp.sum({0} * {0}{axis}))"),
]


def reduction(s: Scope) -> None:
    a = s.like("fcib", 1)
    axes = ["", *(f", axis={i}" for i in range(s.values[a].ndim))]
    dtype = s.values[a].dtype
    table = [text for kinds, text in _REDUCTIONS if kind_of(dtype) in kinds]
    if dtype.itemsize == 2:  # rounded to so few digits, which element is the largest is chance
        table = [text for text in table if ".arg" not in text]
    _both(s, "reduction", s.rng.choice(table).replace("{axis}", s.rng.choice(axes)), a)


_RUNNING = [
    ("fci", "xp.cumsum({0}, {axis}, dtype={0}.dtype)", ""),
    ("f", "xp.cumprod(1 + 0.2 * xp.sin({0}), {axis})", ""),
    ("fi", "lax.cummax({0}, {axis})", "np.maximum.accumulate({0}, {axis})"),
    ("fi", "lax.cummin({0}, {axis}, reverse=True)",
     "np.flip(np.minimum.accumulate(np.flip({0}, {axis}), {axis}), {axis})"),
    ("f", "lax.cumlogsumexp({0}, {axis})", "np.logaddexp.accumulate({0}, {axis})"),
    ("f", "nn.logsumexp({0}, axis={axis})", "np.logaddexp.reduce({0}, {axis})"),
    ("fi", "xp.sort({0}, axis={axis})", ""),
    ("f", "-xp.sort(-{0}, axis={axis})[:1]", ""),
    ("fi", "xp.argsort({0}, axis={axis}, stable=True).astype(np.int32)", ""),
    ("f", "lax.associative_scan(lambda a, b: a + b + 0.1 * a * b, {0}, axis={axis})",
     "np.frompyfunc(lambda a, b: a + b + 0.1 * a * b, 2, 1).accumulate("
     "{0}, {axis}, dtype=object).astype({0}.dtype)"),
    ("f", "dovetail.vmap(lambda a: a - lax.pmean(a, 'i'), {axis}, {axis}, axis_name='i')({0})",
     "{0} - {0}.mean({axis}, keepdims=True)"),
    ("f", "dovetail.vmap(lambda a: a * lax.axis_index('i'), {axis}, {axis}, axis_name='i')({0})",
     "np.moveaxis(np.moveaxis({0}, {axis}, -1) * np.arange({0}.shape[{axis}]), -1, {axis})"
     ".astype({0}.dtype)"),
    ("f", "dovetail.vmap(lambda a: a + lax.all_gather(a, 'i')[1:].sum(0), {axis}, {axis}, "
     "axis_name='i')({0})",
     "{0} + {0}.sum({axis}, keepdims=True) - np.take({0}, [0], {axis})"),
    ("f", "dovetail.vmap(lambda a: lax.ppermute(lax.psum(a, 'i') - a, 'i', [(0, 1), (1, 0)]), "
     "{axis}, {axis}, axis_name='i')({0})",
     "np.flip({0}.sum({axis}, keepdims=True) - {0}, {axis}) if {0}.shape[{axis}] == 2 else 1 / 0"),
    ("f", "lax.reduce(1 + 0.1 * {0}, np.asarray(1.0, {0}.dtype), lax.mul, ({axis},))",
     "np.prod(1 + 0.1 * {0}, {axis})"),
    ("f", "lax.reduce_window({0}, np.asarray(0, {0}.dtype), lax.add, (2,) * {0}.ndim, "
     "(1,) * {0}.ndim, 'SAME')", "window_sum_numpy({0})"),
    ("f", "lax.top_k({0}, {0}.shape[-1] - 1)[0]", "-np.sort(-{0}, -1)[..., :-1]"),
    ("f", "lax.sort((-{0}, xp.sin({0})), dimension={axis}, num_keys=1)[1]",
     "np.take_along_axis(np.sin({0}), np.argsort(-{0}, {axis}, kind='stable'), {axis})"),
]  # fmt: skip


def running(s: Scope) -> None:
    """Running and sorted values."""
    a = s.like("fci", 1)
    x = s.values[a]
    if x.size == 1:
        raise Rejected
    kind, ours, numpy = s.rng.choice(_RUNNING)
    if kind_of(x.dtype) not in kind or (x.dtype.name in ("bfloat16", "float16") and numpy):
        raise Rejected
    axis = str(s.rng.randrange(x.ndim))
    numpy = (numpy or ours.replace("xp.", "np.")).replace("{axis}", axis)
    s.add("running", ours.replace("xp.", "dnp.").replace("{axis}", axis), numpy, a)


def product(s: Scope) -> None:
    """Matrix products of all sorts."""
    a = s.pick(lambda x: x.dtype.name in _EXACT and x.ndim >= 1)
    x = s.values[a]
    b = s.pick(lambda y: y.dtype == x.dtype and y.ndim >= 1)
    y = s.values[b]
    texts = []
    if x.shape[-1] == y.shape[0 if y.ndim == 1 else -2]:
        texts += ["0.4 * ({0} @ {1})"] * 3
    if x.shape[-1] == y.shape[-1]:
        texts += ["xp.inner({0}, {1})"]
    if x.shape == y.shape:
        texts += ["xp.vdot({0}, {1})", "xp.einsum('...i,...i->...', {0}, {1})"]
    if x.shape[0] == y.shape[0]:
        texts += ["xp.tensordot({0}, {1}, ((0,), (0,)))"]
    if x.ndim == 2 and y.ndim == 2 and x.shape[1] == y.shape[1]:
        texts += ["xp.einsum('ij,kj->ki', {0}, {1})", "xp.einsum('ij,kj->j', {0}, {1})"]
    if x.ndim == 1 and y.ndim == 1:
        texts += ["xp.outer({0}, {1})", "xp.kron({0}, {1})"]
        texts += ["xp.convolve({0}, {1})"] * (x.dtype != "int32")
    if not texts:
        raise Rejected
    _both(s, "product", s.rng.choice(texts), a, b)


_EXACT = ("float64", "float32", "complex128", "complex64", "int32")
_MATRIX = [
    "xp.trace({0})",
    "xp.diagonal({0}) * 2",
    "xp.linalg.det({0} + 4 * xp.eye({n}))",
    "xp.linalg.inv({0} * 0.2 + 2 * xp.eye({n}))",
    "xp.linalg.solve({0} * 0.2 + 2 * xp.eye({n}), xp.sin({0}))",
    "xp.linalg.cholesky({0} @ {0}.T + xp.eye({n}))",
    "xp.linalg.eigvalsh({0} + {0}.T + xp.diag(xp.arange({n}) * 9.0))",
    "xp.linalg.slogdet({0} @ {0}.T + xp.eye({n}))[1]",
    "xp.linalg.svd({0} * 0.1 + xp.diag(xp.arange({n}) + 1.0), compute_uv=False)",
    "xp.linalg.norm({0} + xp.eye({n}))",
    "xp.linalg.matrix_power({0} * 0.3, 3)",
]


def matrix(s: Scope) -> None:
    """Linear algebra of square matrices in double precision."""
    a = s.pick(lambda x: x.dtype.name == "float64" and x.ndim == 2 and x.shape[0] == x.shape[1] > 1)
    text = s.rng.choice(_MATRIX).replace("{n}", str(len(s.values[a])))
    _both(s, "linalg", text, a)


_SPECTRA = [
    "xp.real(xp.fft.fft({0}))",
    "xp.imag(xp.fft.fft({0}, axis=0))",
    "xp.fft.irfft(xp.fft.rfft({0}) * 0.5, {n})",
    "xp.abs(xp.fft.fft({0}) + 9)",
]


def spectrum(s: Scope) -> None:
    a = s.pick(lambda x: x.dtype.name == "float64" and x.ndim >= 1)
    _both(s, "fft", s.rng.choice(_SPECTRA).replace("{n}", str(s.values[a].shape[-1])), a)


OPERATIONS = [(9, reduction), (7, running), (7, product), (4, matrix), (1, spectrum)]
