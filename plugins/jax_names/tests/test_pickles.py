"""Pickles of arrays, keys and tree structures that JAX wrote are read, and those written under the
import hook name what JAX has.
"""

from __future__ import annotations

import pickletools
from base64 import b64decode
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail_jax_names.private.random.rbg as rbg
import dovetail_jax_names.private.random.threefry2x32 as threefry2x32

# pickle.dumps of JAX 0.10.2 of asarray(2.0), random.key(7) and tree.structure((1, {"a": [2]})).
ARRAY = b64decode(
    "gASVxAAAAAAAAACMDmpheC5fc3JjLmFycmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVtcHkuX2NvcmUubX"
    "VsdGlhcnJheZSMDF9yZWNvbnN0cnVjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlChLASloBowFZHR5"
    "cGWUk5SMAmY0lImIh5RSlChLA4wBPJROTk5K/////0r/////SwB0lGKJQwQAAABAlHSUfZSMCXdlYWtfdHlwZZSIc3"
    "SUUpQu"
)
KEY = b64decode(
    "gASVwwEAAAAAAACMFGpheC5fc3JjLnJhbmRvbS5wcm5nlIwMUFJOR0tleUFycmF5lJOUKYGUfZQojAVfaW1wbJRoAI"
    "wIUFJOR0ltcGyUk5QoSwKFlIwcamF4Ll9zcmMucmFuZG9tLnRocmVlZnJ5MngzMpSMDXRocmVlZnJ5X3NlZWSUk5Ro"
    "CYwOdGhyZWVmcnlfc3BsaXSUk5RoCYwUdGhyZWVmcnlfcmFuZG9tX2JpdHOUk5RoCYwQdGhyZWVmcnlfZm9sZF9pbp"
    "STlIwMdGhyZWVmcnkyeDMylIwDZnJ5lHSUgZSMCV9jb25zdW1lZJSJjAtfYmFzZV9hcnJheZSMDmpheC5fc3JjLmFy"
    "cmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cnVjdJ"
    "STlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlChLAUsChZRoHowFZHR5cGWUk5SMAnU0lImIh5RSlChLA4wB"
    "PJROTk5K/////0r/////SwB0lGKJQwgAAAAABwAAAJR0lH2UjAl3ZWFrX3R5cGWUiXN0lFKUdWIu"
)
TREE = b64decode(
    "gASVnwAAAAAAAACMEmpheGxpYi5famF4LnB5dHJlZZSMCVB5VHJlZURlZpSTlCmBlIwSamF4Ll9zcmMudHJlZV91dG"
    "lslIwQZGVmYXVsdF9yZWdpc3RyeZSTlF2UKChLAEsATk5LAUsBdJQoSwBLAE5OSwFLAXSUKEsESwFOTksBSwJ0lChL"
    "BUsBXZSMAWGUYU5LAUsDdJQoSwJLAk5OSwJLBXSUZYaUYi4="
)

READ = f"""
import dovetail.jax, pickle, jax
x = pickle.loads({ARRAY!r})
print(repr(x), isinstance(x, jax.Array))
key = pickle.loads({KEY!r})
print(type(key).__name__, key.dtype, jax.random.key_data(key), jax.random.normal(key))
print(pickle.loads({TREE!r}) == jax.tree.structure((1, {{"a": [2]}})))
"""


def test_those_of_jax_are_read(python: Any) -> None:
    done = python("-c", READ)
    normal = float(dovetail.random.normal(dovetail.random.key(7)))
    assert done.stdout.splitlines() == [
        "Array(2., dtype=float32, weak_type=True) True",
        f"KeyArray key<fry> [0 7] {normal:.8g}",
        "True",
    ], done.stderr


WRITE = """
import dovetail.jax, pickle, sys, jax
values = [jax.numpy.arange(3), jax.numpy.asarray(2.0), jax.random.key(3), jax.tree.structure([1]),
          jax.random.split(jax.random.key(3, impl="rbg")), jax.random.key(5, impl="unsafe_rbg")]
for x in values:
    text = pickle.dumps(x)
    y = pickle.loads(text)
    print(text.hex(), type(x) is type(y), repr(x) == repr(y))
"""


def test_those_under_the_hook_name_what_jax_has(python: Any) -> None:
    done = python("-c", WRITE)
    named: list[set[str]] = []
    for line in done.stdout.splitlines():
        text, *same = line.split()
        assert same == ["True", "True"]
        words = [a for _, a, _ in pickletools.genops(bytes.fromhex(text)) if isinstance(a, str)]
        named.append({w for w in words if w.startswith(("jax", "dovetail"))})
    array, prng = {"jax._src.array"}, "jax._src.random."
    key = {f"{prng}prng", *array}
    assert named == [
        array, array, {f"{prng}threefry2x32", *key}, {"jax._src.tree_util", "jaxlib._jax.pytree"},
        {f"{prng}rbg", *key}, {f"{prng}rbg", *key},
    ], done.stderr  # fmt: skip


CLASSES = """
import dovetail.jax, pickle, jax, jax.errors, jax.sharding, jax.tree_util
classes = [jax.Array, jax.P, jax.ShapeDtypeStruct, jax.dtypes.prng_key, jax.tree_util.Partial,
           jax.errors.TracerBoolConversionError, jax.errors.KeyReuseError]
print(*(c.__module__ for c in classes))
print(*(pickle.loads(pickle.dumps(c)) is c for c in classes[1:]))
x = jax.tree_util.Partial(max, 1)
print(b"dovetail" in pickle.dumps(x), pickle.loads(pickle.dumps(x))(2))
"""


def test_public_classes_are_of_jaxs_modules(python: Any) -> None:
    done = python("-c", CLASSES)
    assert done.stdout.splitlines() == [
        "jax jax.sharding jax jax.dtypes jax.tree_util jax.errors jax.errors",
        "True True True True True True",
        "False 2",
    ], done.stderr


def test_elsewhere_they_are_dovetails_own(python: Any) -> None:
    code = (
        "import dovetail, pickle\n"
        "for x in (dovetail.numpy.arange(3), dovetail.random.key(3)):\n"
        "    print(b'jax.' in pickle.dumps(x))"
    )
    done = python("-c", code)
    assert done.stdout == "False\nFalse\n", done.stderr


@pytest.mark.parametrize(
    ("impl", "functions"),
    [("threefry2x32", threefry2x32.FUNCTIONS), ("rbg", rbg.FUNCTIONS), ("unsafe_rbg", rbg.UNSAFE)],
)
def test_the_functions_that_pickles_name(impl: str, functions: Any) -> None:
    random = dovetail.random
    key = random.key(3, impl=impl)
    words = functions.seed(3)
    np.testing.assert_array_equal(words, random.key_data(key))
    for result, wanted in (
        (functions.split(words, (2,)), random.key_data(random.split(key, 2))),
        (functions.fold_in(words, 5), random.key_data(random.fold_in(key, 5))),
        (functions.random_bits(words, 16, (4,)), random.bits(key, (4,), "uint16")),
    ):
        np.testing.assert_array_equal(result, wanted)
    assert functions.seed.__module__.startswith("jax._src.random.")
    assert threefry2x32.__name__ == "jax._src.random.threefry2x32"
