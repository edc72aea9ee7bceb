"""What calls and eager operations cost in the steady state: Dovetail beside JAX.

    python benchmarks/calls.py [--peer PYTHON] [--kind KIND ...] [--only TEXT ...] [--write]

Microseconds of one call on small arrays after it has been called before, the least of some series,
waiting included. Two processes, one of each library, take turns at each call. PYTHON is the
interpreter of an environment with JAX; by default that of ``make bench``. ``--only`` takes parts of
calls' texts. With ``--write`` the table goes into its section of RESULTS.md.

Two columns say what no library can leave out: how long the call's program takes by itself, given to
XLA's executable without anything around it, and how many functions of Python a call enters (none:
all of it is jaxlib's C++, which is the same in both).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import call_floor
import functions
import run
import sections
from call_operands import environment

TURNS = 8
GOALS = {"jit": 0.9, "arguments": 0.8, "library": 1.0}
"""The largest ratio wanted, by kind of call,"""
GOAL = 0.7
"""and of every other."""

SOURCES = """
jit: f1(x); f100(t100); fin100(t100); fout100(x); frecords(records); fmany(x, y, p)
arguments: fstatic(x, 2); fstatic(x, n=2); fstatic(x, n='a'); fkeyword(x, k=y); fkeyword(x, k=1.0)
arguments: f1(a); f1(1.0); f1(1); f1(True); f1(np.float32(1)); fkeyword(x, k=a); fdefault(x)
arguments: fpartial(x); instance.method(x); fmethod(instance, x); fstatics(x, (8, 8), 'sum')
arguments: fdonated(x + 1.0); fwaited(x).block_until_ready()
reshape: numpy.reshape(x, (2, 32)); x.reshape(2, 32); x.reshape((2, 32)); x.reshape(-1); x.ravel()
reshape: numpy.transpose(x); x.T; x.transpose(1, 0); x.astype('int32'); x.astype(numpy.float16)
reshape: numpy.astype(x, 'int32'); numpy.stack([x, y]); numpy.concatenate([x, y]); x.flatten()
reshape: numpy.expand_dims(x, 0); numpy.squeeze(x3); numpy.broadcast_to(v, (8, 8))
reshape: numpy.vstack([x, y])
create: numpy.arange(8); numpy.arange(0, 8, 2); numpy.arange(8.0); numpy.zeros((8, 8))
create: numpy.zeros(8); numpy.ones((8, 8), 'int32'); numpy.full((8, 8), 2.0); numpy.zeros_like(x)
create: numpy.empty((8,)); numpy.asarray(a); numpy.asarray(x); numpy.asarray(1.0)
create: numpy.asarray([1.0, 2.0]); numpy.array(a); numpy.asarray(a, 'int32')
create: numpy.array([[1, 2], [3, 4]]); numpy.float32(1.0); numpy.int32(1); lib.device_put(a)
create: lib.device_put(x); lib.device_put(t10); numpy.linspace(0.0, 1.0, 8); numpy.eye(8)
arithmetic: x + x; x + 1; x + 1.0; 2.0 * x; x * a; a * x; x ** 2; x ** 2.0; -x; abs(x); x / 2
arithmetic: x // 2; x % 2; x > 0; x == y; x != 0; x > y; m & m; ~m; s + 1; s * 2.0; i + 1; i << 1
arithmetic: x @ x; x @ v; v @ v; numpy.add(x, 1); numpy.where(m, x, 0.0)
arithmetic: numpy.where(x > 0, x, -x); numpy.maximum(x, 0); numpy.einsum('ij,jk->ik', x, x)
arithmetic: numpy.einsum('ii', x); numpy.matmul(x, x); numpy.dot(v, v); numpy.sum(x); x.sum()
arithmetic: x.mean(axis=0); x.max(); x.std(); x.argmax(); numpy.exp(x); numpy.sin(x)
arithmetic: numpy.vdot(v, v); numpy.tensordot(x, x, 1); numpy.cumsum(x); numpy.clip(x, 0.0, 1.0)
arithmetic: x.clip(0, 1)
index: x[0]; x[j]; x[-1]; x[1:3]; x[:, 1]; x[1, 2]; x[..., None]; x[i]; x[i, i]; x[:, i]; x[m]
index: x[i0]; x[a_i]; x[x > 0]; v[::2]; v[::-1]; x.at[0].set(1.0); x.at[i].add(1.0)
index: x.at[1:3].set(v); x.at[i, i].set(v3); x.at[m].set(0.0); x.at[0].get()
index: numpy.take(x, i, axis=0); list(v); len(x); [r for r in x]; tuple(v); numpy.nonzero(m)
index: numpy.argwhere(m); numpy.unique(i)
convert: float(s); int(s); bool(s); s.item(); x.tolist(); np.asarray(x); np.array(x); repr(x)
convert: str(s); fresh.item(); x.shape; x.dtype; x.ndim; x.size; lib.block_until_ready(x)
convert: x.block_until_ready(); lib.device_get(x); lib.device_get(t10); float(x[0, 0])
convert: bool((x == x).all()); x.weak_type; s == 1.0; complex(s); hash(lib.numpy.float32)
convert: numpy.shape(x); numpy.ndim(x); numpy.isscalar(s); x.is_deleted(); numpy.result_type(x, i)
convert: numpy.promote_types('int32', 'float32'); f'{s:.2f}'; round(s)
trees: lib.tree.map(add1, t100); lib.tree.map(add, t100, t100); lib.tree.leaves(t100)
trees: lib.tree.flatten(t100); lib.tree.structure(t100)
trees: lib.tree_util.tree_map_with_path(second, t10); lib.tree.reduce(add, t10)
transform: lib.vmap(square)(x); vsquare(x); lib.vmap(add, in_axes=(0, None))(x, v); vadd(x, v)
transform: lib.grad(loss)(x); gloss(x); vgloss(x); lib.value_and_grad(loss)(x)
transform: lib.jvp(loss, (x,), (x,)); lib.vjp(loss, x)[1](one); lib.vjp(loss, x); pullback(one)
transform: lib.linearize(loss, x); lib.jacfwd(square)(v); lib.jacrev(square)(v)
transform: lib.hessian(loss)(v); lib.checkpoint(loss)(x); closs(x); gcloss(x); cj(x); gcj(x)
transform: cv(x); gcv(x); lib.grad(flayers)(params, x); gjit(x); vjit(x); vvgrad(x)
transform: lib.eval_shape(loss, x); lib.make_jaxpr(loss)(x); lib.jit(loss)(x); lib.vmap(gloss)(x)
control: lax.scan(body, s, v); lax.scan(body, s, None, length=8); lax.cond(True, inc, dec, s)
control: lax.cond(flag, inc, dec, s); lax.while_loop(less, inc, s0); lax.fori_loop(0, 8, step, s)
control: lax.switch(1, [inc, dec], s); lax.map(inc, v); lax.associative_scan(add, v)
control: lax.fori_loop(0, 8, closed(x), s); lax.scan(lambda c, u: (c + u, c), s, v)
control: lax.cond(flag, lambda u: u + 1, lambda u: u - 1, s)
control: lax.while_loop(lambda u: u < 4.0, lambda u: u + 1, s0)
control: lax.fori_loop(0, 8, lambda k, c: c + k, s); lax.scan(closed2(x), v, x)
control: lax.select(m, x, y); lax.platform_dependent(x, cpu=square, default=square)
lax: lax.add(x, y); lax.mul(x, y); lax.dot(x, x); lax.dot_general(x, x, (((1,), (0,)), ((), ())))
lax: lax.conv(img, ker, (1, 1), 'SAME'); lax.dynamic_slice(x, (1, 1), (2, 2))
lax: lax.dynamic_slice(x, (j, j), (2, 2)); lax.dynamic_update_slice(x, y, (0, 0))
lax: lax.dynamic_index_in_dim(x, 1); lax.slice(x, (0, 0), (2, 2))
lax: lax.reduce(x, 0.0, lax.add, (0,)); lax.pad(x, 0.0, ((1, 1, 0), (1, 1, 0)))
lax: lax.concatenate([x, y], 0); lax.cumsum(x); lax.sort(x); lax.top_k(v, 2)
lax: lax.broadcast(v, (8,)); lax.rev(x, (0,)); lax.iota('int32', 8)
lax: lax.convert_element_type(x, 'int32'); lax.full((8,), 1.0); lax.exp(x); lax.reshape(x, (64,))
lax: lax.clamp(0.0, x, 1.0); lax.gather(x, idx, dims, (1, 8)); lax.stop_gradient(x)
lax: lax.reduce_max(x, (0,)); lax.erf(x); lax.argmax(x, 0, 'int32')
lax: lax.broadcast_in_dim(v, (8, 8), (1,)); lax.transpose(x, (1, 0)); lax.expand_dims(v, (0,))
lax: lax.squeeze(x3, (0,))
random: random.key(0); random.PRNGKey(0); random.split(k); random.split(kr); random.fold_in(k, 1)
random: random.uniform(k); random.normal(k, (8, 8)); random.uniform(k, (8, 8))
random: random.bernoulli(k); random.randint(k, (8,), 0, 9); random.permutation(k, 8)
random: random.choice(k, v); random.categorical(k, x); random.exponential(k, (8,))
random: random.gumbel(k, (8,)); random.truncated_normal(k, -1.0, 1.0, (8,))
random: random.beta(k, 1.0, 2.0); random.bits(k); random.normal(kr, (8, 8)); random.key_data(k)
random: tuple(random.split(k))
linalg: linalg.norm(x); linalg.norm(v); linalg.inv(w); linalg.solve(w, v); linalg.cholesky(w)
linalg: linalg.det(w); linalg.eigh(w); linalg.svd(w); linalg.qr(w); linalg.slogdet(w)
linalg: linalg.pinv(w); linalg.matrix_power(w, 2); linalg.eigvalsh(w); linalg.lstsq(w, v)
linalg: linalg.matrix_rank(w); linalg.norm(x, axis=1); linalg.multi_dot([x, x, x])
nn: nn.relu(x); nn.gelu(x); nn.softmax(x); nn.log_softmax(x); nn.one_hot(i, 8); nn.sigmoid(x)
nn: nn.logsumexp(x); scipy.special.logsumexp(x); scipy.stats.norm.logpdf(x); nn.silu(x)
nn: nn.standardize(x); numpy.fft.fft(x)
library: numpy.gradient(v); numpy.trapezoid(v); numpy.unwrap(v); numpy.isreal(x)
library: numpy.nan_to_num(x); numpy.nanmax(x); numpy.nanmean(x); numpy.cov(x)
library: numpy.corrcoef(x); numpy.trace(x)
library: numpy.diagonal(x); numpy.diff(v); numpy.quantile(x, 0.3); numpy.gcd(i, i)
library: numpy.isclose(x, y); numpy.allclose(x, y); numpy.digitize(v, p[0]); numpy.polyval(v, x)
library: numpy.convolve(v, v3); numpy.kron(v, v3); numpy.matvec(x, v); numpy.vander(v, 4)
library: numpy.cross(v3, v3); numpy.block([[x, x], [x, x]]); numpy.pad(v, 2, mode='mean')
library: scipy.linalg.solve(w, v); scipy.linalg.cholesky(w); scipy.linalg.lu(w); nn.elu(x)
library: scipy.linalg.cho_solve((w, True), v); scipy.linalg.eigh(w); scipy.linalg.expm(w)
"""


def expressions() -> dict[str, str]:
    """The text of each call, and what kind it is."""
    found: dict[str, str] = {}
    for line in SOURCES.strip().splitlines():
        kind, _, calls = line.partition(": ")
        for call in calls.split("; "):
            found[call] = kind
    return found


def child(name: str) -> None:
    """Measures the call that each line of the input holds, and prints its microseconds."""
    names = environment(name)
    wait = names["lib"].block_until_ready
    known: dict[str, tuple[int, Any]] = {}
    for line in sys.stdin:
        text = line.rstrip("\n")
        try:
            f = eval(f"lambda: {text}", names)  # the texts above
            microseconds = functions.eager(f, wait)
            if text not in known:
                known[text] = call_floor.frames(f), call_floor.program(names, text)
            frames, program = known[text]
            found = {"eager": microseconds, "alone": call_floor.alone(program), "frames": frames}
            print(json.dumps(found), flush=True)
        except Exception as e:
            print(json.dumps({"error": f"{type(e).__name__}: {e}"[:200]}), flush=True)


class Call(NamedTuple):
    """Microseconds of a call, and of its program by itself if it is one; functions of Python."""

    whole: float
    alone: float | None
    frames: int


def ask(process: subprocess.Popen[str], text: str) -> Call:
    """What a call costs in that process.

    Raises:
        RuntimeError: the call failed there.
    """
    found = functions.ask(process, text)
    if "error" in found:
        raise RuntimeError(f"{text}: {found['error']}")
    return Call(found["eager"], found["alone"], found["frames"])


def measure(
    processes: Sequence[subprocess.Popen[str]], texts: Sequence[str], turns: int
) -> dict[str, list[Call]]:
    """The least microseconds of each call in each process, taken in turns."""
    found: dict[str, list[Call]] = {}
    for text in texts:
        try:
            rounds = [[ask(process, text) for process in processes] for _ in range(turns)]
        except RuntimeError as e:
            print(e, file=sys.stderr)
            continue
        found[text] = [_least(column) for column in zip(*rounds)]
        ours, theirs = (c.whole for c in found[text])
        print(f"{ours / theirs:5.2f} {ours:9.2f} {theirs:9.2f}  {text}", flush=True)
    return found


def _least(calls: Sequence[Call]) -> Call:
    alone = [c.alone for c in calls if c.alone is not None]
    return Call(min(c.whole for c in calls), min(alone, default=None), calls[0].frames)


def report(found: dict[str, list[Call]], kinds: dict[str, str], load: str) -> list[str]:
    """The section, without its title."""
    ratios = {text: ours.whole / theirs.whole for text, (ours, theirs) in found.items()}
    median = statistics.median(ratios.values())
    lines = [
        f"Microseconds of {len(found)} calls on small arrays (`calls.py`), Dovetail and JAX, and",
        f"the ratio: median {median:.2f}. Load before the run: {load}.", "",
        "| kind | calls | median ratio | wanted, each | above that | above 1 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for kind in dict.fromkeys(kinds.values()):
        own = [ratios[t] for t in ratios if kinds[t] == kind]
        if own:
            goal = GOALS.get(kind, GOAL)
            above, slower = sum(r > goal for r in own), sum(r > 1 for r in own)
            cells = [kind, len(own), f"{statistics.median(own):.2f}", goal, above, slower]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "", "*alone*: the program by itself, as XLA's executable runs it (`call_floor.py`).",
        "*Python*: functions of Python that a call enters.", "",
        "| call | Dovetail | JAX | ratio | alone | JAX | Python | JAX |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for text, (ours, theirs) in found.items():
        alone = " | ".join("-" if c.alone is None else f"{c.alone:.1f}" for c in (ours, theirs))
        cells = f"{ours.whole:.1f} | {theirs.whole:.1f} | {ratios[text]:.2f} | {alone}"
        lines.append(f"| `{text}` | {cells} | {ours.frames} | {theirs.frames} |")
    return lines


def main() -> None:
    """Measure both in turns, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peer", help="interpreter of an environment with JAX")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="parts of texts")
    parser.add_argument("--kind", nargs="+", default=[], help="kinds of calls")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    parser.add_argument("--child", choices=["dovetail", "jax"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child)
        return
    load = run.machine.load()
    peer = args.peer or str(run.peer_python())
    kinds = expressions()
    texts = [t for t in kinds if not args.only or any(part in t for part in args.only)]
    texts = [t for t in texts if not args.kind or kinds[t] in args.kind]
    processes = [
        functions.start(sys.executable, "dovetail", __file__),
        functions.start(peer, "jax", __file__),
    ]
    found = measure(processes, texts, args.turns)
    for process in processes:
        process.communicate()
    lines = report(found, kinds, load)
    print("\n".join(lines))
    if args.write:
        sections.write("calls.py", "## Calls and eager operations", lines)


if __name__ == "__main__":
    main()
