"""What one call of each of the functions costs that people use most: Dovetail beside JAX.

    python benchmarks/functions.py [--peer PYTHON] [--only NAME ...] [--write]

Eager: microseconds of one call on small arrays, the least of some series, waiting included. Traced:
microseconds that one more call adds to tracing a function. Two processes, one of each library, take
turns at each function. PYTHON is the interpreter of an environment with JAX; by default that of
``make bench``. With ``--write`` the table goes into its section of RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import run
import sections

CALLS = 50
"""How many calls are traced in one function."""
TURNS = 6
OPERANDS = "x, y, p, v, m, x3, i, i2, w, n, k, f, t"
Figures = dict[str, float]
GOALS = {"eager": 0.6, "traced": 0.25}
"""Medians of the ratios."""

SOURCES = """
numpy: add(x, y); subtract(x, y); multiply(x, y); divide(x, y); power(x, 2.0); negative(x); abs(x)
numpy: exp(x); log(p); sqrt(p); square(x); sin(x); cos(x); tanh(x); sign(x); floor(x); round(x)
numpy: maximum(x, y); minimum(x, y); clip(x, 0.0, 1.0); where(m, x, y); isnan(x); equal(x, y)
numpy: less(x, y); logical_and(m, m); logical_not(m); mod(x, 2.0); floor_divide(x, 2.0)
numpy: sum(x); sum(x, axis=0); mean(x); mean(x, axis=-1); var(x); std(x); max(x); min(x); prod(x)
numpy: argmax(x); argmin(x, axis=1); cumsum(x); all(m); any(m); count_nonzero(x); median(x)
numpy: dot(x, x); matmul(x, x); einsum('ij,jk->ik', x, x); tensordot(x, x, 1); outer(v, v); x @ x
numpy: transpose(x); reshape(x, (2, 32)); ravel(x); concatenate([x, y]); stack([x, y]); squeeze(x3)
numpy: split(x, 2); expand_dims(x, 0); broadcast_to(v, (8, 8)); swapaxes(x, 0, 1); tile(v, 2)
numpy: moveaxis(x3, 0, 1); repeat(v, 2); pad(x, 1); flip(x); roll(x, 1); take(x, i)
numpy: tril(x); diag(v)
numpy: take_along_axis(x, i2, 1); sort(x); argsort(x); searchsorted(v, v); x[0]; x[1:3]; x[:, None]
numpy: x[i]; x.at[0].set(1.0); x.astype('int32'); zeros((8, 8)); ones((8, 8)); full((8, 8), 2.0)
numpy: arange(8); linspace(0.0, 1.0, 8); eye(8); zeros_like(x); ones_like(x); asarray(n); array(n)
numpy.linalg: norm(x); inv(w); solve(w, v); cholesky(w); det(w)
numpy.fft: fft(x)
nn: relu(x); gelu(x); silu(x); sigmoid(x); softmax(x); log_softmax(x); one_hot(i, 8); logsumexp(x)
random: normal(k, (8, 8)); uniform(k, (8, 8)); split(k); bernoulli(k, 0.5, (8,))
random: randint(k, (8,), 0, 9); permutation(k, 8); categorical(k, x)
lax: dynamic_slice(x, (1, 1), (2, 2)); select(m, x, y); stop_gradient(x); rsqrt(p); top_k(v, 2)
tree: map(f, t)
"""


def expressions() -> dict[str, str]:
    """What is measured: the text of each call, and the module that it is in."""
    found: dict[str, str] = {}
    for line in SOURCES.strip().splitlines():
        module, _, calls = line.partition(": ")
        for call in calls.split("; "):
            found[call if module == "numpy" else f"{module}.{call}"] = module
    return found


def operands(lib: Any) -> dict[str, Any]:
    """The arrays that calls name."""
    import numpy as np

    rng = np.random.RandomState(0)
    lnp = lib.numpy
    x = rng.randn(8, 8).astype("float32")
    arrays = {
        "x": x, "y": rng.randn(8, 8).astype("float32"), "p": abs(x) + 1, "v": np.sort(x[0]),
        "m": x > 0, "x3": x[None], "i": np.array([1, 0, 2]), "i2": np.argsort(x, 1)[:, :2],
        "w": x @ x.T + 8 * np.eye(8, dtype="float32"),
    }  # fmt: skip
    found = {name: lnp.asarray(a) for name, a in arrays.items()}
    return {
        **found, "n": x, "k": lib.random.key(0), "f": lambda a: a,
        "t": {"a": [found["x"]] * 8, "b": (found["y"], found["y"])},
    }  # fmt: skip


def written(lib: Any, text: str, module: str) -> Callable[..., Any]:
    """The call as a function of all operands by name."""
    names = vars(import_module(f"{lib.__name__}.{module}"))
    call = text if module == "numpy" else text.removeprefix(f"{module}.")
    head = call.split("(")[0]
    if head.isidentifier():  # attributes of a module may be loaded lazily
        getattr(import_module(f"{lib.__name__}.{module}"), head)
    return eval(f"lambda {OPERANDS}: {call}", {**names})


def eager(f: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Microseconds of one call."""
    wait(f())
    start = time.perf_counter()
    wait(f())
    number = max(5, min(2000, int(0.002 / (time.perf_counter() - start))))
    found = float("inf")
    for _ in range(12):
        start = time.perf_counter()
        for _ in range(number):
            out = f()
        wait(out)
        found = min(found, time.perf_counter() - start)
    return found / number * 1e6


def traced(lib: Any, f: Callable[..., Any], args: dict[str, Any]) -> float:
    """Microseconds that a call adds to tracing."""
    own = {n: a for n, a in args.items() if n not in ("n", "f")}

    def tracing(calls: int) -> float:
        def many(own: Any) -> Any:
            for _ in range(calls):
                out = f(**{**args, **own})
            return out

        start = time.perf_counter()
        lib.make_jaxpr(lambda o: many(o))(own)
        return time.perf_counter() - start

    tracing(2)
    many, one = (min(tracing(calls) for _ in range(7)) for calls in (CALLS + 1, 1))
    return (many - one) / CALLS * 1e6


def child(name: str) -> None:
    """Measures the function that each line of the input names, and prints its figures."""
    lib = import_module(name)
    for part in ("numpy", "numpy.linalg", "numpy.fft", "nn", "random", "lax", "tree"):
        import_module(f"{name}.{part}")
    args, wait = operands(lib), lib.block_until_ready
    modules = expressions()
    for line in sys.stdin:
        text = line.rstrip("\n")
        f = written(lib, text, modules[text])
        found = {"eager": eager(lambda f=f: f(**args), wait), "traced": traced(lib, f, args)}
        print(json.dumps(found), flush=True)


def start(python: str, lib: str, script: str = __file__) -> subprocess.Popen[str]:
    """A process of a script that measures calls of a library when it is asked to."""
    command = [python, script, "--child", lib]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: subprocess.Popen[str], text: str) -> Any:
    """What such a process answers to a line."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{text}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def least(process: subprocess.Popen[str], text: str, before: Figures | None) -> Figures:
    """The figures of a function: the least of those ``before`` and of a measurement."""
    found: Figures = ask(process, text)
    return found if before is None else {k: min(found[k], before[k]) for k in found}


def measure(processes: list[subprocess.Popen[str]], texts: list[str]) -> list[dict[str, Figures]]:
    """The figures of all functions, by library."""
    found: list[dict[str, Figures]] = [{} for _ in processes]
    for text in texts:
        for _ in range(TURNS):
            for process, figures in zip(processes, found):
                figures[text] = least(process, text, figures.get(text))
    return found


def report(ours: Any, theirs: Any, load: str) -> list[str]:
    """The section, without its title."""
    ratios = {k: {t: ours[t][k] / theirs[t][k] for t in ours} for k in GOALS}
    lines = [
        f"Microseconds, Dovetail / JAX, of {len(ours)} calls on small arrays (`functions.py`), and",
        f"the ratio of the two. Load before the run: {load}.",
        "",
    ]
    for kind, goal in GOALS.items():
        found = ratios[kind]
        above = [t for t in found if found[t] > 1]
        names = f" ({', '.join(f'`{t}`' for t in above)})" if above else ""
        median = statistics.median(found.values())
        lines.append(
            f"- {kind}: median ratio {median:.2f} (wanted {goal}); above 1: {len(above)}{names}"
        )
    lines += ["", "| call | eager | ratio | traced | ratio |", "| --- | --- | --- | --- | --- |"]
    for text in ours:
        cells = [f"`{text}`"]
        for kind in GOALS:
            cells += [f"{ours[text][kind]:.1f} / {theirs[text][kind]:.1f}"]
            cells += [f"{ratios[kind][text]:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure both in turns, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--peer", help="interpreter of an environment with JAX")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    parser.add_argument("--child", choices=["dovetail", "jax"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child)
        return
    load = run.machine.load()
    peer = args.peer or str(run.peer_python())
    processes = [start(sys.executable, "dovetail"), start(peer, "jax")]
    ours, theirs = measure(processes, args.only or list(expressions()))
    for process in processes:
        process.communicate()
    lines = report(ours, theirs, load)
    print("\n".join(lines))
    if args.write:
        sections.write("functions.py", "## The functions that people use most", lines)


if __name__ == "__main__":
    main()
