"""Typed keys are arrays of keys: in themselves, and through transformations."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail import default_prng_impl
from dovetail_backends import Array
from dovetail_batching import vmap
from dovetail_core import PluginError, ShapedArray, typeof
from dovetail_jit import jit, make_jaxpr
from dovetail_random import extend
from dovetail_testing.fresh import fresh_registry
from dovetail_tree.util import tree_leaves, tree_map, tree_structure


def data(keys: Any) -> Any:
    return np.asarray(random.key_data(keys)).tolist()


def test_attributes() -> None:
    """Shape, dtype and size are those of the array of keys, not of its words."""
    key = random.key(0)
    assert (key.shape, key.ndim, key.size, key.itemsize, key.nbytes) == ((), 0, 1, 8, 8)
    assert str(key.dtype) == "key<fry>" and key.dtype is random.key_dtype()
    keys = random.split(key, (2, 3))
    assert (keys.shape, keys.ndim, keys.size, len(keys)) == ((2, 3), 2, 6, 2)
    assert random.key_impl(keys) == "threefry2x32"
    assert random.key_data(keys).shape == (2, 3, 2)


def test_repr() -> None:
    """The words are shown; a traced key shows its type."""
    assert repr(random.key(7)) == "Array((), dtype=key<fry>) overlaying:\n[0 7]"
    seen: list[str] = []
    jit(lambda k: seen.append(repr(k)))(random.split(random.key(0)))
    assert seen[0].startswith("Traced<key<fry>[2]> under")


def test_dtype_is_known_to_issubdtype() -> None:
    """Code that asks whether something is a key finds out."""
    from dovetail_lax import dtypes

    assert dtypes.issubdtype(random.key(0).dtype, dtypes.prng_key)
    assert not dtypes.issubdtype(random.PRNGKey(0).dtype, dtypes.prng_key)


def test_indexing_and_arranging() -> None:
    """Indexing and reshaping are those of an array whose elements are keys."""
    keys = random.split(random.key(0), 6)
    words = np.asarray(random.key_data(keys))
    assert data(keys[2]) == words[2].tolist()
    assert data(keys[-1]) == words[-1].tolist()
    assert data(keys[1:4]) == words[1:4].tolist()
    assert keys[None].shape == (1, 6)
    assert data(keys[dnp.asarray([0, 2])]) == words[[0, 2]].tolist()
    square = keys.reshape(2, 3)
    assert data(square) == words.reshape(2, 3, 2).tolist()
    assert data(square.T) == words.reshape(2, 3, 2).transpose(1, 0, 2).tolist()
    assert square.ravel().shape == square.flatten().shape == keys.reshape(-1).shape == (6,)
    assert keys.reshape((1, 6)).squeeze().shape == (6,)
    assert data(keys.take(dnp.asarray([5]))) == words[[5]].tolist()
    assert keys.repeat(2).shape == (12,)
    assert data(square.transpose(1, 0)) == data(square.transpose((1, 0))) == data(square.T)


def test_at() -> None:
    """Updates by index replace keys."""
    keys = random.split(random.key(0), 3)
    new = keys.at[1].set(random.key(9))
    assert data(new) == [data(keys)[0], [0, 9], data(keys)[2]]
    assert data(keys.at[1].get()) == data(keys[1])
    with pytest.raises(TypeError, match=r"dtype key<(fry|rbg)> takes no part in type promotion"):
        keys.at[0].set(random.key(0, impl="rbg"))


def test_iteration() -> None:
    """Keys unpack, eagerly and while tracing."""
    a, b = random.split(random.key(0))
    assert (a.shape, b.shape) == ((), ())
    assert [data(k) for k in random.split(random.key(0))] == data(random.split(random.key(0)))
    traced = jit(lambda k: list(random.split(k)))(random.key(0))
    assert [data(k) for k in traced] == [data(a), data(b)]


def test_equality() -> None:
    """Comparison is elementwise."""
    keys = random.split(random.key(0), 3)
    assert np.asarray(keys == keys).tolist() == [True] * 3
    assert np.asarray(keys == keys[0]).tolist() == [True, False, False]
    assert np.asarray(keys != keys[0]).tolist() == [False, True, True]
    with pytest.raises(TypeError, match="dtype key<fry> takes no part in type promotion"):
        keys == 3  # noqa: B015


def test_pickle_and_copy() -> None:
    """Keys survive pickling, as do their dtype and structure."""
    keys = random.split(random.key(0), 3)
    again = pickle.loads(pickle.dumps(keys))
    assert data(again) == data(keys) and again.dtype is keys.dtype
    assert pickle.loads(pickle.dumps(keys.dtype)) is keys.dtype
    assert pickle.loads(pickle.dumps(tree_structure(keys))) == tree_structure(keys)
    assert data(keys.copy()) == data(keys) == data(keys.block_until_ready())


def test_one_leaf() -> None:
    """An array of keys is one array: one leaf, one value, of one type."""
    keys = random.split(random.key(0), 3)
    assert isinstance(keys, Array) and tree_leaves(keys) == [keys]
    assert data(tree_map(lambda x: x[0], keys)) == data(keys[0])
    assert typeof(keys) is ShapedArray((3,), keys.dtype)
    program = make_jaxpr(lambda k: (k, random.split(k[0])))(keys)
    assert [a.str_short() for a in program.out_avals] == ["key<fry>[3]", "key<fry>[2]"]
    assert ": a:key<fry>[3]" in str(program).replace(";", ":") and "is_high" not in str(program)
    assert random.key(0, impl="rbg").lanes[3].shape == ()


def test_jit() -> None:
    """Keys go in, come out, and are made inside."""
    key = random.key(3)
    assert data(jit(random.split)(key)) == data(random.split(key))
    assert data(jit(lambda: random.key(3))()) == data(key)
    assert data(jit(lambda s: random.key(s))(3)) == data(key)
    assert data(jit(lambda: random.fold_in(random.key(3), 5))()) == data(random.fold_in(key, 5))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_vmap_axes(axis: int) -> None:
    """Mapped axes are those of the array of keys, counted from either end."""
    keys = random.split(random.key(1), (2, 3))
    result = vmap(vmap(lambda k: random.uniform(k, (4,))), in_axes=axis)(keys)
    rows = np.asarray(random.key_data(keys)).reshape(2, 3, 2)
    rows = np.moveaxis(rows, (0, 1)[axis], 0)
    one = lambda w: np.asarray(random.uniform(random.wrap_key_data(dnp.asarray(w)), (4,)))  # noqa: E731
    wanted = [[one(w).tolist() for w in row] for row in rows]
    assert np.asarray(result).tolist() == wanted


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vmap_out_axes(axis: int) -> None:
    """New axes come where they should."""
    keys = random.split(random.key(1), 5)
    result = vmap(lambda k: random.split(k, 3), out_axes=axis)(keys)
    wanted = np.stack([np.asarray(random.key_data(random.split(k, 3))) for k in keys], axis % 2)
    assert data(result) == wanted.tolist()


def test_vmap_of_seeds() -> None:
    """Keys of many seeds."""
    result = vmap(random.key)(dnp.arange(4))
    assert data(result) == [[0, i] for i in range(4)]
    assert np.asarray(vmap(random.PRNGKey)(dnp.arange(4))).tolist() == [[0, i] for i in range(4)]


def test_vmap_of_raw_keys() -> None:
    """Raw keys map over their leading axis."""
    keys = random.split(random.PRNGKey(0), 3)
    result = vmap(lambda k: random.normal(k, (2,)))(keys)
    wanted = [np.asarray(random.normal(k, (2,))).tolist() for k in keys]
    np.testing.assert_allclose(result, wanted, rtol=1e-6)


def test_scan() -> None:
    """Keys are carried, scanned over and stacked."""
    key = random.key(4)

    def chain(k: Any, _: Any) -> Any:
        k, draw = random.split(k)
        return k, (draw, random.bits(draw))

    last, (draws, bits) = lax.scan(chain, key, None, length=3)
    k = key
    for i in range(3):
        k, draw = random.split(k)
        assert data(draws[i]) == data(draw) and int(bits[i]) == int(random.bits(draw))
    assert data(last) == data(k)
    over = lax.scan(lambda c, k: (c, random.bits(k)), 0, draws)[1]
    assert np.array_equal(over, bits)


def test_cond_and_while() -> None:
    """Branches return keys, loops carry them."""
    pick = jit(lambda p, a, b: lax.cond(p, lambda: a, lambda: b))
    a, b = random.split(random.key(0))
    assert data(pick(True, a, b)) == data(a) and data(pick(False, a, b)) == data(b)
    last = lax.fori_loop(0, 3, lambda i, k: random.fold_in(k, i), random.key(0))
    k = random.key(0)
    for i in range(3):
        k = random.fold_in(k, i)
    assert data(last) == data(k)


def test_raw_and_typed_keys_agree() -> None:
    """A raw key is the words of a typed one."""
    typed, raw = random.key(8), random.PRNGKey(8)
    assert data(typed) == np.asarray(raw).tolist()
    assert data(random.split(typed, 3)) == np.asarray(random.split(raw, 3)).tolist()
    assert data(random.wrap_key_data(raw)) == data(typed)
    assert np.array_equal(random.bits(typed, (5,)), random.bits(raw, (5,)))
    assert random.key_data(raw) is raw and random.clone(raw) is raw
    assert random.key_impl(raw) == "threefry2x32"
    assert np.array_equal(random.bits(np.asarray(raw), (5,)), random.bits(raw, (5,)))


def test_default_implementation() -> None:
    """Keys that name no generator are of the default one, raw ones included."""
    from dovetail_random.generators import default_prng_impl

    with default_prng_impl("rbg"):
        assert str(random.key(0).dtype) == "key<rbg>" and random.PRNGKey(0).shape == (4,)
        assert random.split(random.PRNGKey(0), 3).shape == (3, 4)
    assert str(random.key(0).dtype) == "key<fry>"
    with pytest.raises(ValueError, match="there is no random bit generator 'nope'"):
        default_prng_impl("nope")


def test_dtype_argument() -> None:
    """A generator can be given by the dtype of its keys."""
    rbg = random.key_dtype("rbg")
    assert random.key(0, dtype=rbg).dtype is rbg
    assert random.wrap_key_data(dnp.zeros(4, "uint32"), dtype=rbg).dtype is rbg


def test_an_implementation_of_ones_own() -> None:
    """Functions on raw keys make a generator; everything is drawn with it."""
    impl = random.define_prng_impl(
        key_shape=(1,),
        seed=lambda s: dnp.reshape(dnp.asarray(s), (1,)).astype("uint32"),
        split=lambda k, shape: dnp.broadcast_to(k, (*shape, 1)),
        random_bits=lambda k, width, shape: dnp.full(shape, k[0], f"uint{width}"),
        fold_in=lambda k, d: k + d,
        name="tests.constant",
        tag="const",
    )
    key = random.key(5, impl="tests.constant")
    assert str(key.dtype) == "key<const>" and key.dtype is impl.dtype
    assert np.asarray(random.bits(key, (2,))).tolist() == [5, 5]
    assert data(random.fold_in(key, 2)) == [7]
    assert data(random.split(key, 2)) == [[5], [5]]
    assert np.asarray(jit(lambda k: random.uniform(k, (2,)))(key)).tolist() == [0, 0]
    wrong: Any = len
    with pytest.raises(ValueError, match=r"named 'tests\.constant' exists already"):
        random.define_prng_impl(
            key_shape=(1,),
            seed=wrong,
            split=wrong,
            random_bits=wrong,
            fold_in=wrong,
            name="tests.constant",
        )
    for shape in ((), (0,), (2, 0)):
        with pytest.raises(ValueError, match="key_shape must have a dimension"):
            random.define_prng_impl(
                key_shape=shape, seed=wrong, split=wrong, random_bits=wrong, fold_in=wrong
            )


def test_raw_keys_of_several_dimensions() -> None:
    """Functions on raw keys of shape (2, 1) draw what those on keys of shape (2,) draw."""

    def inner(raw: Any) -> Any:
        return random.wrap_key_data(raw[..., 0], impl="threefry2x32")

    square = random.define_prng_impl(
        key_shape=(2, 1),
        seed=lambda s: random.key_data(random.key(s, impl="threefry2x32"))[..., None],
        split=lambda k, shape: random.key_data(random.split(inner(k), shape))[..., None],
        random_bits=lambda k, width, shape: random.bits(inner(k), shape, f"uint{width}"),
        fold_in=lambda k, d: random.key_data(random.fold_in(inner(k), d))[..., None],
        name="tests.square",
        tag="square",
    )
    key, plain = random.key(3, impl=square), random.key(3, impl="threefry2x32")
    assert key.shape == () and random.key_data(key).shape == (2, 1)
    raw = random.key_data(random.split(key, (3, 4)))
    assert raw.shape == (3, 4, 2, 1)
    want = random.key_data(random.split(plain, (3, 4)))
    assert np.array_equal(np.asarray(raw)[..., 0], want)
    again = random.wrap_key_data(raw, impl=square)
    assert again.shape == (3, 4) and again.dtype is key.dtype
    drawn = vmap(vmap(random.uniform))(again)
    assert np.array_equal(drawn, vmap(vmap(random.uniform))(random.split(plain, (3, 4))))
    assert random.uniform(random.fold_in(key, 7)) == random.uniform(random.fold_in(plain, 7))
    old = random.PRNGKey(3, impl=square)
    assert old.shape == (2, 1) and jit(lambda k: random.key_data(k))(key).shape == (2, 1)
    with default_prng_impl("tests.square"):
        assert random.uniform(old) == random.uniform(plain)
        assert random.split(old, 5).shape == (5, 2, 1) and random.fold_in(old, 1).shape == (2, 1)
        with pytest.raises(TypeError, match=r"whose last axes have the lengths \(2, 1\)"):
            random.uniform(np.zeros(2, np.uint32))
        with pytest.raises(ValueError, match=r"an array of keys of shape \(5,\)"):
            random.uniform(random.split(old, 5))


def test_a_generator_of_a_plugin(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin adds generators by name; they are loaded when somebody asks for them."""
    (tmp_path / "dice_of_tests.py").write_text(
        "import dovetail_numpy as dnp\n"
        "from dovetail_core import Manifest\n"
        "MANIFEST = Manifest('dice', members={\n"
        "    'random.generators.dice': 'dice_of_tests:dice',\n"
        "    'random.generators.coin': 'dice_of_tests:MANIFEST'})\n"
        "def __getattr__(name):\n"
        "    if name != 'dice': raise AttributeError(name)\n"
        "    from dovetail_random import Implementation\n"
        "    four = lambda lanes, width, shape: dnp.full(shape, 4, f'uint{width}')\n"
        "    return Implementation('dice', 'dice', 1, seed=lambda s: (s.astype('uint32'),),\n"
        "        split=lambda lanes, shape: (dnp.full(shape, lanes[0]),),\n"
        "        fold_in=lambda lanes, data: (lanes[0] + data,), random_bits=four)\n"
    )
    info = tmp_path / "dice_of_tests-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dice-of-tests\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dovetail.plugins]\ndice = dice_of_tests:MANIFEST\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with fresh_registry():
        key = random.key(7, impl="dice")
        assert str(key.dtype) == "key<dice>" and data(random.split(key)) == [[7], [7]]
        assert np.asarray(random.bits(key, (2,))).tolist() == [4, 4]
        with pytest.raises(PluginError, match=r"'random\.generators\.coin' .* an Implementation"):
            random.key(0, impl="coin")
        with pytest.raises(ValueError, match=r"known are 'coin', 'dice'.*'threefry2x32'"):
            random.key(0, impl="nope")
    assert random.key(3, impl="dice").dtype is key.dtype


def test_interface_of_generators() -> None:
    """``extend.random`` has the generators, and makes keys of them."""
    seeds = np.arange(4).reshape(2, 2)
    keys = extend.random_seed(seeds, extend.rbg_prng_impl)
    assert keys.shape == (2, 2) and keys.dtype is random.key_dtype("rbg")
    assert data(keys[1, 0]) == data(extend.seed_with_impl(extend.rbg_prng_impl, 2)) == [0, 2, 0, 2]
    assert extend.threefry_prng_impl is random.implementation("threefry2x32")
    with pytest.raises(TypeError, match=r"seeds are integers, got dtype float32 at .*test_keys"):
        extend.random_seed(dnp.ones(2), extend.threefry_prng_impl)
    with pytest.raises(TypeError, match=r"seed_with_impl: impl is a generator .*, got 'fry'"):
        extend.seed_with_impl("fry", 0)  # type: ignore[arg-type]


def test_folding_in_under_two_axes_of_which_each_operand_has_some() -> None:
    keys = random.split(random.key(0), (2, 3))
    for axes, given, numbers in (
        (((0, None), (0, 0)), keys, np.arange(2)),
        (((None, 0), (0, 0)), keys[:, 0], np.arange(6).reshape(2, 3)),
        (((None, 0), (0, None)), keys[:, 0], np.arange(3)),
        (((0, None), (None, 0)), keys[0], np.arange(2)),
    ):
        result = vmap(vmap(random.fold_in, axes[0]), axes[1])(given, numbers)
        some = given if axes[1][0] is None else given[1]
        number = numbers if axes[1][1] is None else numbers[1]
        one = random.fold_in(*[x if d is None else x[2] for x, d in zip((some, number), axes[0])])
        assert data(result[1, 2]) == data(one)
