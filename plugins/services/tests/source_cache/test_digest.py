"""What has a digest, what changes one, and what is refused, in which words."""

from __future__ import annotations

import dataclasses
import decimal
import enum
import functools
import io
import itertools
import math
import os
import random
import threading
import time
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_jit import jit
from dovetail_services import NotSound
from dovetail_services.source_cache.kinds import add_foreign_nodes, add_structure, new_digest
from dovetail_tree.util import register_pytree_node, tree_structure


def digest(x: Any, reads: bool = False) -> bytes:
    result = new_digest(reads)
    result.add(x, "it")
    return result.hash.digest()


def made(text: str, **given: Any) -> Any:
    """The function ``f`` of a program of the user's, which has some globals."""
    space: dict[str, Any] = {"__name__": "users_program", **given}
    exec(text, space)
    return space["f"]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Data:
    a: Any
    b: Any = 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any


class Answering:
    """Answers for what it has not as it likes."""

    def __init__(self, a: Any) -> None:
        self.known = {"a": a}

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["known"][name]


class Slots:
    __slots__ = ("a", "__b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.__b = a, b


class Many(list[Any]):
    pass


def _class(**members: Any) -> type:
    return type("Made", (), members)


DIFFERENT = [
    (1, 1.0), (0.0, -0.0), (True, 1), ("a", b"a"), ((1, 2), (1, (2,))), ([1], (1,)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (float("nan"), 0.0), ({1, 2}, {1, 3}),
    (np.zeros(2), np.zeros(2, np.float32)), (np.zeros((2, 3)), np.zeros((3, 2))),
    (np.zeros(2), np.array([0.0, -0.0])), (np.float32(1), np.float64(1)), (np.int32, np.int64),
    (np.dtype("f4"), np.dtype("f8")), (dnp.sin, dnp.cos), (math.sin, math.cos),
    (dnp.zeros(2), dnp.ones(2)), (Color.RED, Color.BLUE), (Pair(1, 2), Pair(2, 2)),
    (Pair(1, 2), (1, 2)), (Data(1), Data(2)), (Data(1), Data(1, 2)), (Slots(1, 2), Slots(1, 3)),
    (Many([1]), Many([2])), (Many([1]), [1]), (_class(a=1), _class(a=2)),
    (_class(a=1)(), _class(a=2)()), (functools.partial(max, 1), functools.partial(max, 2)),
    (types.SimpleNamespace(a=np.zeros(2000)), types.SimpleNamespace(a=np.ones(2000))),
    (range(3), range(4)), (slice(1), slice(2)), ([1].append, [2].append),
    ((2).__add__, (3).__add__), (Frozen(1), Frozen(2)), (Answering(1), Answering(2)),
    (jit(dnp.sin), jit(dnp.cos)), (jit(dnp.sin), jit(dnp.sin, donate_argnums=0)),
    (lambda x: x + 1, lambda x: x + 2),
    (lambda x: [x + 1 for _ in x], lambda x: [x + 2 for _ in x]),
    (made("def f(x): return g(x)", g=abs), made("def f(x): return g(x)", g=len)),
    (made("def f(x): return n.a", n=types.SimpleNamespace(a=1)),
     made("def f(x): return n.a", n=types.SimpleNamespace(a=2))),
    (made("def f(x): return lambda: n", n=1), made("def f(x): return lambda: n", n=2)),
    (made("def f(x): return n"), made("def f(x): return n", n=None)),
    (made("def f(x): return n()", n=jit(lambda x: x)), made("def f(x): return n()", n=jit(abs))),
]  # fmt: skip


@pytest.mark.parametrize("pair", DIFFERENT, ids=range(len(DIFFERENT)))
def test_what_differs_has_different_digests(pair: tuple[Any, Any]) -> None:
    a, b = pair
    assert digest(a) == digest(a)
    assert digest(a) != digest(b)


def test_what_is_the_same_has_one_digest() -> None:
    assert digest({"b", "a", "c"}) == digest({"c", "a", "b"})
    assert digest(Data([1], {"k": (1,)})) == digest(Data([1], {"k": (1,)}))
    text = "def f(x):\n    return n * x"
    assert digest(made(text, n=2, other=3)) == digest(made("\n\n" + text, n=2, other=4))
    loop: list[Any] = []
    loop.append(loop)
    assert digest(loop) == digest(loop)


def test_modules_by_what_is_taken_of_them() -> None:
    def module(**names: Any) -> Any:
        result = types.ModuleType("users_module")
        vars(result).update(names)
        return result

    def f(text: str, **names: Any) -> bytes:
        return digest(made(f"def f(x): return {text}", m=module(**names)))

    assert f("m.a + x", a=1, b=2) == f("m.a + x", a=1, b=3) != f("m.a + x", a=2, b=2)
    assert f("g(m)", a=1) != f("g(m)", a=2)
    assert f("m.n.a", n=module(a=1)) != f("m.n.a", n=module(a=2))
    assert f("m.z") == f("m.z")
    lazy = module(__getattr__=lambda name: 1)
    with pytest.raises(NotSound, match="module users_module makes z when it is asked for it"):
        digest(made("def f(x): return m.z", m=lazy))


def test_what_somebody_put_into_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    f = made("def f(x): return np.hypot(x, np.pi)", np=np)
    before = digest(f)
    with monkeypatch.context() as patch:
        patch.setattr(np, "hypot", lambda x, y: x)
        assert digest(f) != before
    with monkeypatch.context() as patch:
        patch.setattr(np, "pi", 3.0)
        assert digest(f) != before
    assert digest(f) == before


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\n  return np.hypot(x, 1)",
        "import numpy.linalg\n  return numpy.hypot(x, 1)",
        "from numpy import hypot\n  return hypot(x, 1)",
        "import numpy.fft as n\n  from numpy import linalg\n  return n.fft(x) + linalg.norm(x)",
    ],
)
def test_what_is_imported_within_a_function(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = made(f"def f(x):\n  {text}")
    before = digest(f)
    monkeypatch.setattr(np, "hypot", lambda x, y: x)
    monkeypatch.setattr(np.linalg, "norm", lambda x: x)
    assert digest(f) != before


def test_methods_that_somebody_put_into_the_class_of_a_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = made("def f(x): return p(x)", p=np.poly1d)
    before = digest(f)
    monkeypatch.setattr(np.poly1d, "__call__", lambda self, x: x)
    assert digest(f) != before


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: io.StringIO(), r"it: a value of type _io.StringIO"),
    (lambda: (i for i in ()), "a value of type builtins.generator"),
    (lambda: threading.Lock(), "a value of type _thread.lock"),
    (lambda: itertools.count(), "a value of type itertools.count"),
    (lambda: np.array([{}]), "an array of type ndarray and object"),
    (lambda: np.random.RandomState(0), "a value of type numpy.random.mtrand.RandomState"),
    (lambda: time.time, "time.time may depend on more than its arguments"),
    (lambda: random.random, "a value of type random.Random|random.random may depend"),
    (lambda: eval, "the builtin eval depends on more"),
    (lambda: made("def f(x): return [open]"), "builtin 'open' of f of it: .*open reads a file"),
    (lambda: made("def f(x): return np.load(x)", np=np), r"reads a file .*reads="),
    (lambda: made("def f(x): return np.random.rand()", np=np), "numpy.random.*something else each"),
    (lambda: made("def f(x): return os.getenv('A')", os=os), "global 'os' of f of it: os.getenv"),
    (lambda: made("def f(x):\n  import time\n  return time.time()"), "what f imports.*: time may"),
    (lambda: made("def f(x):\n  import users_other_module"), "users_other_module, which is not"),
    (lambda: made("def f(x):\n  global n\n  n = x"), "f changes a global, 'n'"),
    (lambda: [1, {"a": threading.Lock()}], r"item 'a' of item 1 of it: a value of type _thread"),
    (lambda: Data(threading.Lock()), "a of it: a value"),
    (lambda: remembering(), "remembers results"),
    (lambda: functools.cmp_to_key(math.dist)(2), "a value of type functools.KeyWrapper"),
    (lambda: decimal.Decimal(1), "a value of type decimal.Decimal"),
    (lambda: made("def f(x): return d.Decimal(x)", d=decimal), "decimal.Decimal may depend on"),
]  # fmt: skip


def remembering() -> Any:
    @functools.lru_cache
    def f(x: Any) -> Any:
        return x

    digest(f)
    f(1)
    return f


@pytest.mark.parametrize(("make", "text"), REFUSED, ids=[t for _, t in REFUSED])
def test_what_is_refused(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(NotSound, match=text):
        digest(make())


def test_files_that_are_named_may_be_read() -> None:
    f = made("def f(x): return open('a').read(), np.load('b')", np=np)
    assert digest(f, reads=True)


def test_a_deleted_array_and_a_traced_value() -> None:
    x = dnp.ones(2)
    x.delete()
    with pytest.raises(NotSound, match="an array that was deleted"):
        digest(x)

    def f(x: Any) -> Any:
        with pytest.raises(NotSound, match="a traced value"):
            digest([x])
        return x

    jit(f)(1.0)


def test_containers_of_arguments_by_their_functions() -> None:
    def structure(change: int) -> bytes:
        box = type("Box", (), {})

        def flatten(x: Any) -> Any:
            return ((), change)

        register_pytree_node(box, flatten, lambda aux, children: box())
        result = new_digest()
        add_structure(result, tree_structure([box(), 1, None, {"a": (2,)}]))
        return result.hash.digest()

    assert structure(1) == structure(1) != structure(2)


def test_containers_by_their_functions_wherever_they_are_used() -> None:
    def used(change: int) -> bytes:
        box = type("Box", (), {})
        register_pytree_node(box, lambda x: ((), change), lambda aux, children: box())
        return digest(made("def f(x): return box()", box=box))

    assert used(1) == used(1) != used(2)

    def around() -> bytes:
        result = new_digest()
        add_foreign_nodes(result)
        return result.hash.digest()

    before = around()
    theirs = type("Theirs", (), {"__module__": "collections"})
    register_pytree_node(theirs, lambda x: ((), None), lambda aux, children: theirs())
    assert around() != before
