"""Programs of many kinds for benchmarks of compilation: name -> (function, arguments)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from library import dovetail, jnp, lax, nn, random
from workloads import gpt_loss, gpt_params, mlp_loss, mlp_params

Program = tuple[Callable[..., Any], tuple[Any, ...]]
PROGRAMS: dict[str, Callable[[], Program]] = {}
MORE: dict[str, Callable[[], Program]] = {}
"""Programs for first_step.py alone."""


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    """Add a program under the name of the function that makes it."""
    PROGRAMS[make.__name__] = make
    return make


def _floats(*shape: int, seed: int = 0) -> Any:
    return jnp.asarray(np.random.RandomState(seed).rand(*shape).astype(np.float32))


def _gpt(layers: int, width: int = 64, sequence: int = 32) -> Program:
    params = gpt_params(jnp, layers, width, 128, sequence)
    tokens = jnp.asarray(np.random.RandomState(0).randint(0, 128, (2, sequence)))
    return dovetail.value_and_grad(gpt_loss(dovetail, jnp)), (params, tokens)


@program
def gpt4() -> Program:
    """A transformer of 4 blocks and its gradient."""
    return _gpt(4)


@program
def gpt12() -> Program:
    """One of 12 blocks."""
    return _gpt(12)


def gpt48() -> Program:
    """One of 48 blocks."""
    return _gpt(48)


MORE["gpt48"] = gpt48


@program
def gpt4_wide() -> Program:
    """One of 4 wider blocks on longer sequences."""
    return _gpt(4, 256, 128)


@program
def mlp_step() -> Program:
    """32 small dense layers and their gradient."""
    params = mlp_params(jnp, 32)
    x = _floats(4, 64)
    return dovetail.value_and_grad(mlp_loss(dovetail, jnp)), (params, x, x)


@program
def mlp_wide_step() -> Program:
    """4 large dense layers and their gradient."""
    params = [(0.05 * _floats(512, 512, seed=i), _floats(512, seed=i)) for i in range(4)]
    x = _floats(256, 512)
    return dovetail.value_and_grad(mlp_loss(dovetail, jnp)), (params, x, x)


def _adam(leaves: int, *shape: int) -> Program:
    tree = [_floats(*shape, seed=i) for i in range(leaves)]

    def step(p: Any, m: Any, v: Any, g: Any) -> Any:
        each = dovetail.tree.map
        m = each(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = each(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        new = each(lambda p, m, v: p - 0.01 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return new, m, v

    return step, (tree, tree, tree, tree)


@program
def adam_300() -> Program:
    """A step of Adam over 300 small parameters."""
    return _adam(300, 16, 16)


@program
def adam_large() -> Program:
    """A step of Adam over 4 large parameters."""
    return _adam(4, 1024, 1024)


def _conv(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


@program
def resnet_16() -> Program:
    """16 residual convolutions and their gradient."""
    weights = [(0.1 * _floats(3, 3, 16, 16, seed=i), _floats(16, seed=i)) for i in range(16)]

    def loss(weights: Any, x: Any) -> Any:
        for w, b in weights:
            y = _conv(x, w) * b
            x = x + nn.relu((y - y.mean((0, 1, 2))) / (y.std((0, 1, 2)) + 1e-3))
        return jnp.mean(x**2)

    return dovetail.value_and_grad(loss), (weights, _floats(2, 16, 16, 16))


@program
def lstm_50() -> Program:
    """An LSTM scanned over 50 steps and its gradient."""
    d = 32
    w, b = 0.1 * _floats(2 * d, 4 * d), _floats(4 * d)

    def loss(w: Any, xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            h, c = carry
            i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w + b, 4, -1)
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((8, d))
        return jnp.mean(lax.scan(step, (zero, zero), xs)[1] ** 2)

    return dovetail.value_and_grad(loss), (w, _floats(50, 8, d))


@program
def lstm_unrolled() -> Program:
    """A recurrent net over 30 steps, written out."""
    d = 16
    w = 0.1 * _floats(2 * d, d)

    def loss(w: Any, xs: Any) -> Any:
        h = jnp.zeros((8, d))
        for x in xs:
            h = jnp.tanh(jnp.concatenate([x, h], -1) @ w)
        return jnp.mean(h**2)

    return dovetail.value_and_grad(loss), (w, _floats(30, 8, d))


@program
def log_density() -> Program:
    """A log-density and its gradient over a batch."""
    y = _floats(20)

    def density(q: Any) -> Any:
        mean, scale, z = q[0], jnp.exp(q[1]), q[2:]
        prior = -0.5 * (mean**2 + q[1] ** 2 + jnp.sum(z**2))
        return prior - 0.5 * jnp.sum(((y - mean - scale * z) / 0.3) ** 2)

    return dovetail.vmap(dovetail.value_and_grad(density)), (_floats(64, 22),)


@program
def ode() -> Program:
    """Runge-Kutta steps in a loop, and their gradient."""

    def solve(y: Any, sigma: Any) -> Any:
        def field(y: Any) -> Any:
            a, b, c = y
            return jnp.stack([sigma * (b - a), a * (28.0 - c) - b, a * b - 8 / 3 * c])

        def step(y: Any, _: Any) -> Any:
            k1 = field(y)
            k2 = field(y + 0.005 * k1)
            k3 = field(y + 0.005 * k2)
            k4 = field(y + 0.01 * k3)
            return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return jnp.sum(lax.scan(step, y, None, length=200)[0])

    return dovetail.value_and_grad(solve, (0, 1)), (_floats(3), jnp.float32(10.0))


@program
def newton() -> Program:
    """A loop until convergence."""

    def solve(x: Any) -> Any:
        def step(x: Any) -> Any:
            return x - jnp.tanh(x - 0.3) * jnp.cosh(x - 0.3) ** 2 * 0.5

        return lax.while_loop(lambda x: jnp.max(jnp.abs(x - 0.3)) > 1e-4, step, x)

    return solve, (_floats(100),)


@program
def mandelbrot() -> Program:
    """A loop on complex numbers."""

    def escape(c: Any) -> Any:
        def step(_: Any, carry: Any) -> Any:
            z, n = carry
            z = z * z + c
            return z, n + (jnp.abs(z) < 2)

        return lax.fori_loop(0, 30, step, (c, jnp.zeros(c.shape, jnp.int32)))[1]

    return escape, ((_floats(128, 128) * 3 - 2 + 1j * _floats(128, 128, seed=1)),)


@program
def graph_network() -> Program:
    """Messages along edges: gathers and sums of segments."""
    r = np.random.RandomState(0)
    sent, received = (jnp.asarray(r.randint(0, 200, 1000)) for _ in range(2))
    weights = [0.1 * _floats(16, 16, seed=i) for i in range(3)]

    def loss(weights: Any, nodes: Any) -> Any:
        for w in weights:
            messages = jnp.tanh((nodes[sent] + nodes[received]) @ w)
            nodes = nodes + dovetail.ops.segment_sum(messages, received, 200)
        return jnp.mean(nodes**2)

    return dovetail.value_and_grad(loss), (weights, _floats(200, 16))


@program
def embedding() -> Program:
    """Rows of a table, and the gradient of it."""
    ids = jnp.asarray(np.random.RandomState(0).randint(0, 5000, (32, 20)))

    def loss(table: Any) -> Any:
        return jnp.mean(jnp.tanh(table[ids].sum(1)) ** 2)

    return dovetail.value_and_grad(loss), (_floats(5000, 32),)


@program
def elementwise_small() -> Program:
    """Some functions of few elements."""

    def f(x: Any) -> Any:
        return jnp.sin(x) * jnp.exp(-x) + jnp.log1p(x) ** 2

    return f, (_floats(100),)


@program
def elementwise_large() -> Program:
    """Some functions of many elements."""
    return elementwise_small()[0], (_floats(1000, 1000),)


@program
def chain_1000() -> Program:
    """1,000 operations one after the other."""

    def f(x: Any) -> Any:
        for _ in range(333):
            x = jnp.sin(x) * 1.01 + 0.1
        return x

    return f, (_floats(8),)


@program
def softmax_large() -> Program:
    """Softmaxes along both axes."""

    def f(x: Any) -> Any:
        return nn.softmax(x, axis=-1) - nn.log_softmax(x, axis=0)

    return f, (_floats(1000, 1000),)


@program
def layer_norm() -> Program:
    """A normalisation and its gradient."""

    def loss(x: Any, g: Any) -> Any:
        y = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return jnp.sum(jnp.tanh(y * g))

    return dovetail.grad(loss, (0, 1)), (_floats(512, 512), _floats(512))


@program
def reductions() -> Program:
    """Reductions of several kinds."""

    def f(x: Any) -> Any:
        return x.sum(0), x.max(1), x.mean(), jnp.std(x, 0), jnp.argmax(x, 1), jnp.cumsum(x, 1)

    return f, (_floats(600, 700),)


@program
def stencil() -> Program:
    """Neighbours in a loop."""

    def f(u: Any) -> Any:
        def step(_: Any, u: Any) -> Any:
            around = sum(jnp.roll(u, s, a) for s in (1, -1) for a in (0, 1))
            return u + 0.1 * (around - 4 * u)

        return lax.fori_loop(0, 20, step, u)

    return f, (_floats(256, 256),)


@program
def distances() -> Program:
    """All pairs of points, and the gradient."""

    def f(x: Any) -> Any:
        apart = x[:, None] - x[None]
        return jnp.sum(jnp.exp(-jnp.sum(apart**2, -1)))

    return dovetail.value_and_grad(f), (_floats(300, 8),)


@program
def gaussian_process() -> Program:
    """A factorisation and its gradient."""
    x, y = _floats(60, 2), _floats(60)

    def loss(scale: Any) -> Any:
        apart = x[:, None] - x[None]
        k = jnp.exp(-jnp.sum(apart**2, -1) / scale) + 0.1 * jnp.eye(60)
        return y @ jnp.linalg.solve(k, y) + jnp.linalg.slogdet(k)[1]

    return dovetail.value_and_grad(loss), (jnp.float32(0.5),)


@program
def sample() -> Program:
    """Draws of three kinds."""

    def f(key: Any) -> Any:
        a, b, c = random.split(key, 3)
        draws = random.normal(a, (100, 100)), random.gamma(b, 2.0, (200,))
        return *draws, random.categorical(c, jnp.zeros((50, 20)))

    return f, (random.key(0),)


@program
def metropolis() -> Program:
    """A Markov chain."""

    def f(key: Any) -> Any:
        def step(carry: Any, key: Any) -> Any:
            x, p = carry
            a, b = random.split(key)
            new = x + 0.5 * random.normal(a, x.shape)
            q = -0.5 * jnp.sum(new**2)
            taken = jnp.log(random.uniform(b)) < q - p
            return (jnp.where(taken, new, x), jnp.where(taken, q, p)), taken

        keys = random.split(key, 200)
        return lax.scan(step, (jnp.zeros(10), jnp.float32(0)), keys)

    return f, (random.key(0),)


@program
def sorting() -> Program:
    """Sorts, a median and a search."""

    def f(x: Any) -> Any:
        return jnp.sort(x), jnp.argsort(x), jnp.median(x), jnp.searchsorted(jnp.sort(x), x)

    return f, (_floats(2000),)


@program
def histogram() -> Program:
    """Counts."""

    def f(x: Any) -> Any:
        return jnp.histogram(x, bins=50)[0], jnp.bincount((x * 20).astype(int), length=20)

    return f, (_floats(10000),)


@program
def attention() -> Program:
    """The gradient of an attention."""

    def f(q: Any, k: Any, v: Any) -> Any:
        return jnp.sum(nn.dot_product_attention(q, k, v) ** 2)

    return dovetail.grad(f, (0, 1, 2)), tuple(_floats(4, 64, 4, 32, seed=i) for i in range(3))


@program
def spectrum() -> Program:
    """A Fourier transform."""

    def f(x: Any) -> Any:
        return jnp.sum(jnp.abs(jnp.fft.rfft2(x)) ** 2, 0)

    return f, (_floats(8, 64, 64),)


@program
def kmeans() -> Program:
    """Nearest centres, again and again."""

    def f(x: Any, centres: Any) -> Any:
        def step(_: Any, centres: Any) -> Any:
            near = jnp.argmin(jnp.sum((x[:, None] - centres[None]) ** 2, -1), 1)
            mine = nn.one_hot(near, centres.shape[0])
            return mine.T @ x / (mine.sum(0)[:, None] + 1e-6)

        return lax.fori_loop(0, 10, step, centres)

    return f, (_floats(1000, 4), _floats(8, 4, seed=1))


@program
def image() -> Program:
    """A picture resized."""

    def f(x: Any) -> Any:
        y = dovetail.image.resize(x, (48, 48, 3), "cubic")
        return jnp.clip(y * 1.2 - 0.1, 0, 1) ** 0.45

    return f, (_floats(64, 64, 3),)


@program
def complex_numbers() -> Program:
    """Complex exponentials and a product."""

    def f(x: Any) -> Any:
        z = jnp.exp(1j * x) @ jnp.cos(x + 2j)
        return jnp.real(z * z.conj()), jnp.angle(z)

    return f, (_floats(64, 64),)


@program
def integers() -> Program:
    """Arithmetic of integers."""

    def f(x: Any) -> Any:
        return (x * 7 % 13) ^ (x >> 2), jnp.bitwise_count(x), x // 3

    return f, (jnp.arange(10000),)


@program
def lower_precision() -> Program:
    """A gradient in bfloat16."""

    def f(x: Any, w: Any) -> Any:
        return jnp.sum(nn.gelu(x @ w).astype(jnp.float32))

    return dovetail.grad(f, 1), (_floats(64, 64).astype("bfloat16"),) * 2


def twenty_tiny() -> Program:
    """20 small functions, each compiled by itself."""
    jit, x = dovetail.jit, _floats(32, 32)
    alike = [
        jnp.tanh, jnp.exp, jnp.sin, nn.relu, nn.gelu, nn.softmax, jnp.cumsum, jnp.transpose,
    ]  # fmt: skip
    functions: list[Callable[[Any], Any]] = [
        *(lambda x, f=f: f(x) + 1.0 for f in alike),
        lambda x: x @ x, lambda x: x.sum(0) / 2, lambda x: x.max(1), lambda x: x[::2] * 3,
        lambda x: jnp.where(x > 0.5, x, 0.0), lambda x: jnp.stack([x, -x]),
        lambda x: jnp.mean((x - x.mean()) ** 2), lambda x: x.at[0].add(1.0),
        lambda x: jnp.argmax(x, 1), lambda x: jnp.einsum("ij,kj->ik", x, x), jnp.linalg.norm,
        lambda x: lax.fori_loop(0, 3, lambda _, y: y * 0.5 + x, x),
    ]  # fmt: skip
    compiled = [jit(f) for f in functions]
    return lambda x: [f(x) for f in compiled], (x,)


MORE["twenty_tiny"] = twenty_tiny
