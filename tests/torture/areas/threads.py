"""Sixteen threads use Dovetail at once, from its first use on, and give way at every moment."""

from __future__ import annotations

import importlib
import os
import random
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._hostile import Distribution

LIMIT = 120.0
BATCH = 1  # each attack is the first use in its process
THREADS = 16

_PACKAGE = """
import dovetail
import dovetail.numpy as jnp
from .values import Pair, twice_p
CONSTANT = jnp.sin(jnp.arange(3.0))
SLOPE = dovetail.grad(lambda x: jnp.sum(jnp.sin(x)))(CONSTANT)
"""
_VALUES = """
from dovetail_core import Primitive
class Pair:
    def __init__(self, x): self.x = x
twice_p = Primitive("acme.twice")
twice_p.def_abstract_eval(lambda x: x)
"""
_RULES = """
import time
time.sleep(0.01)
from dovetail_core import registry
from acme.values import twice_p
import dovetail.numpy as jnp
jnp.cos(1.0)
table = registry().table({table!r})
table.set(twice_p, {rule})
"""
_TABLES = {
    "eval": "lambda x: x + x",
    "ad.jvp": "lambda primals, tangents: (twice_p.bind(*primals), tangents[0] * 2)",
}
_TYPES = """
import time
from dovetail_core import ShapedArray, register_type
from acme.values import Pair
time.sleep(0.02)
register_type(Pair, lambda x: ShapedArray((), "float32"))
"""


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    kind = rng.choice([*_KINDS])
    begin(kind)
    sys.setswitchinterval(1e-6)
    os.environ["DOVETAIL_STRICT"] = "1"  # what fails in a plugin is told with its traceback
    with tempfile.TemporaryDirectory() as name:
        _write_plugin(Path(name))
        sys.path.insert(0, name)
        # CPython takes a module out of sys.modules for a moment when its import is over: of threads
        # that import a package and a part of it, one may fail. The package alone loads nothing.
        importlib.import_module("dovetail")
        try:
            _together([_job(rng, _KINDS[kind]) for _ in range(THREADS)])
        finally:
            sys.path.remove(name)


def _job(rng: random.Random, works: list[Callable[[int], Any]]) -> Callable[[], None]:
    chosen = [(rng.choice(works), rng.randrange(1, 9)) for _ in range(3)]

    def run() -> None:
        for work, n in chosen:
            work(n)

    return run


def _together(jobs: list[Callable[[], None]]) -> None:
    start, errors = threading.Barrier(len(jobs)), list[BaseException]()

    def run(job: Callable[[], None]) -> None:
        start.wait()
        try:
            job()
        except BaseException as e:  # all are told
            errors.append(e)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise BaseExceptionGroup(f"{len(errors)} of {len(jobs)} threads", errors)


def _write_plugin(folder: Path) -> None:
    rules = {t: f"acme.{t.replace('.', '_')}" for t in _TABLES}
    contributes = {t: (m,) for t, m in rules.items()}
    Distribution(
        "acme",
        f"contributes={contributes}, types=('acme.types',), names={{'seven': 'acme.seven:X'}}",
    ).write(folder)
    package = folder / "acme"
    package.mkdir()
    (package / "__init__.py").write_text(_PACKAGE)
    (package / "values.py").write_text(_VALUES)
    (package / "types.py").write_text(_TYPES)
    (package / "seven.py").write_text("import acme, time\ntime.sleep(0.01)\nX = 7\n")
    for table, module in rules.items():
        source = _RULES.format(table=table, rule=_TABLES[table])
        (package / f"{module.partition('.')[2]}.py").write_text(source)


def _near(result: Any, wanted: Any) -> None:
    import numpy as np

    np.testing.assert_allclose(np.asarray(result, np.float64), wanted, rtol=1e-5, atol=1e-6)


def _eager(n: int) -> None:
    import numpy as np

    import dovetail.numpy as jnp

    _near(jnp.sin(jnp.arange(float(n))) * 2, np.sin(np.arange(n)) * 2)
    _near(jnp.linalg.solve(jnp.eye(n) * 2, jnp.ones(n)), np.full(n, 0.5))


def _jit(n: int) -> None:
    import numpy as np

    import dovetail
    import dovetail.numpy as jnp

    f = dovetail.jit(lambda x, k: jnp.cumsum(x) * k, static_argnums=1)
    for k in range(3):
        _near(f(jnp.ones(n), k), np.arange(1, n + 1) * k)


def _grad(n: int) -> None:
    import numpy as np

    import dovetail
    import dovetail.numpy as jnp

    def f(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) ** 2)

    x = np.arange(n, dtype=np.float32)
    _near(dovetail.grad(f)(x), np.sin(2 * x))
    _near(dovetail.jit(dovetail.hessian(f))(x), np.diag(2 * np.cos(2 * x)))


def _vmap(n: int) -> None:
    import numpy as np

    import dovetail
    import dovetail.numpy as jnp

    x = np.arange(6.0).reshape(2, 3).astype(np.float32) * n
    _near(dovetail.vmap(lambda a, b: jnp.dot(a, b))(x, x), (x * x).sum(1))
    _near(dovetail.jit(dovetail.vmap(lambda a: dovetail.lax.scan(_step, 0.0, a)[0]))(x), x.sum(1))


def _step(c: Any, a: Any) -> Any:
    return c + a, None


def _random(n: int) -> None:
    import numpy as np

    import dovetail

    key = dovetail.random.PRNGKey(0)
    assert np.asarray(dovetail.random.split(key)).tolist() == _SPLIT  # of Threefry: JAX's documents


_SPLIT = [[1797259609, 2579123966], [928981903, 3453687069]]


def _own_reference(n: int) -> None:
    import dovetail
    import dovetail.numpy as jnp

    ref = dovetail.new_ref(jnp.zeros(n))

    @dovetail.jit
    def add(r: Any) -> None:
        r[...] += 2.0

    for _ in range(3):
        add(ref)
        ref[0] = ref[0] + 1.0
    _near(ref[...], [9.0] + [6.0] * (n - 1))


_shared: dict[str, Any] = {}
_counts: list[int] = []


def _shared_reference(n: int) -> None:
    import numpy as np

    import dovetail
    import dovetail.numpy as jnp
    from dovetail.ref import addupdate

    ref = _shared.setdefault("ref", dovetail.new_ref(jnp.zeros(4)))
    add = _shared.setdefault("add", dovetail.jit(_add_one))
    for _ in range(n):
        before = len(_counts)
        add(ref)
        addupdate(ref, ..., jnp.ones(4))
        _counts.append(1)
        seen = np.asarray(ref[...])
        assert (seen == seen[0]).all() and seen[0] >= 2 * (before + 1), (seen, before)


def _add_one(r: Any) -> None:
    r[...] += 1.0


def _settings(n: int) -> None:
    import numpy as np

    import dovetail
    import dovetail.numpy as jnp

    for _ in range(5):
        wide = n % 2 == 1
        with dovetail.enable_x64(wide), dovetail.numpy_dtype_promotion("standard"):
            kind = np.float64 if wide else np.float32
            assert jnp.ones(n).dtype == kind
            assert dovetail.jit(lambda x: x * 2)(1.5).dtype == kind
            with dovetail.disable_jit(), dovetail.named_scope(f"s{n}"):
                assert dovetail.config.disable_jit and jnp.zeros(2).dtype == kind
        assert not dovetail.config.enable_x64 and jnp.ones(n).dtype == np.float32


def _plugin(n: int) -> None:
    """A thread imports a package that computes, another one uses what its modules register."""
    import acme  # type: ignore[import-not-found]

    import dovetail

    assert n % 2 or dovetail.typeof(acme.Pair(1)).str_short() == "f32[]"
    _near(acme.SLOPE, acme.CONSTANT * 0 + dovetail.numpy.cos(acme.CONSTANT))
    assert dovetail.seven == 7
    value, slope = dovetail.value_and_grad(lambda x: acme.twice_p.bind(x) * x)(3.0)
    _near([value, slope], [18.0, 12.0])


def _types(n: int) -> None:
    import dovetail
    from dovetail_core import HiType, register_type

    cls = type(f"Mine{n}", (), {})
    register_type(cls, lambda x: dovetail.typeof(1.0))
    assert dovetail.typeof(cls()) is dovetail.typeof(2.0) and HiType.is_high
    node = type(f"Node{n}", (), {"__init__": lambda self, x: setattr(self, "x", x)})
    tree: Any = dovetail.tree_util
    tree.register_pytree_node(node, lambda t: ((t.x,), None), lambda aux, xs: node(*xs))
    assert dovetail.jit(lambda t: node(t.x + 1))(node(2.0)).x == 3.0


def _clear(n: int) -> None:
    import dovetail

    dovetail.clear_caches()


_ALL = [_eager, _jit, _grad, _vmap, _random, _own_reference]
_KINDS: dict[str, list[Callable[[int], Any]]] = {
    "first use of everything": [*_ALL, _settings, _types],
    "one reference by all": [_shared_reference],
    "settings of a thread": [_settings, _eager, _jit],
    "a plugin loaded by all": [_plugin, _plugin, _grad, _eager],
    "types and containers registered": [_types, _types, _jit, _plugin],
    "caches cleared meanwhile": [*_ALL, _clear, _clear],
}
