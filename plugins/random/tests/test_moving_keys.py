"""Typed keys in functions of numpy and lax that move elements: each word moves like any array."""

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_batching import vmap
from dovetail_jit import jit

KEYS = random.split(random.key(0), 6)
A, B = KEYS[0], KEYS[1]
MASK, AT = np.arange(6) > 2, np.array([1, 4])
MOVES = {
    "append": lambda k: dnp.append(k, k[0]),
    "array": lambda k: dnp.array([k[0], k[1]]),
    "asarray": dnp.asarray,
    "atleast_2d": dnp.atleast_2d,
    "broadcast_arrays": lambda k: dnp.broadcast_arrays(k, k[0])[1],
    "broadcast_to": lambda k: dnp.broadcast_to(k, (2, 6)),
    "choose": lambda k: dnp.choose(np.array([0, 1]), [k[:2], k[2:4]]),
    "compress": lambda k: dnp.compress(MASK, k, size=3),
    "concatenate": lambda k: dnp.concatenate([k, k[::-1]]),
    "copy": dnp.copy,
    "delete": lambda k: dnp.delete(k, 1),
    "expand_dims": lambda k: dnp.expand_dims(k, 0),
    "flip": dnp.flip,
    "full": lambda k: dnp.full((2, 2), k[3]),
    "hstack": lambda k: dnp.hstack([k, k]),
    "insert": lambda k: dnp.insert(k, 2, k[0]),
    "moveaxis": lambda k: dnp.moveaxis(k[None], 0, 1),
    "ravel": lambda k: dnp.ravel(k.reshape(2, 3)),
    "repeat": lambda k: dnp.repeat(k, 2),
    "reshape": lambda k: dnp.reshape(k, (2, 3)),
    "roll": lambda k: dnp.roll(k, 2),
    "select": lambda k: dnp.select([MASK], [k], k[::-1]),
    "split": lambda k: dnp.split(k, 3)[1],
    "squeeze": lambda k: dnp.squeeze(k[None]),
    "stack": lambda k: dnp.stack([k, k[::-1]], axis=1),
    "swapaxes": lambda k: dnp.swapaxes(k.reshape(2, 3), 0, 1),
    "take": lambda k: dnp.take(k, AT),
    "take_along_axis": lambda k: dnp.take_along_axis(k, AT, 0),
    "tile": lambda k: dnp.tile(k, (2, 1)),
    "transpose": lambda k: dnp.transpose(k.reshape(2, 3)),
    "unstack": lambda k: dnp.unstack(k)[2],
    "vstack": lambda k: dnp.vstack([k, k]),
    "where": lambda k: dnp.where(MASK, k, k[::-1]),
    "lax.broadcast": lambda k: lax.broadcast(k, (2,)),
    "lax.broadcast_in_dim": lambda k: lax.broadcast_in_dim(k, (6, 2), (0,)),
    "lax.collapse": lambda k: lax.collapse(k.reshape(2, 3), 0),
    "lax.concatenate": lambda k: lax.concatenate([k, k], 0),
    "lax.dynamic_index_in_dim": lambda k: lax.dynamic_index_in_dim(k, 2, 0, False),
    "lax.dynamic_slice": lambda k: lax.dynamic_slice(k, (np.int32(1),), (2,)),
    "lax.dynamic_slice_in_dim": lambda k: lax.dynamic_slice_in_dim(k, 1, 2),
    "lax.dynamic_update_index_in_dim": lambda k: lax.dynamic_update_index_in_dim(k, k[0], 2, 0),
    "lax.dynamic_update_slice": lambda k: lax.dynamic_update_slice(k, k[:2], (3,)),
    "lax.expand_dims": lambda k: lax.expand_dims(k, (0,)),
    "lax.index_in_dim": lambda k: lax.index_in_dim(k, 2),
    "lax.reshape": lambda k: lax.reshape(k, (3, 2)),
    "lax.rev": lambda k: lax.rev(k, (0,)),
    "lax.select": lambda k: lax.select(MASK, k, k[::-1]),
    "lax.select_n": lambda k: lax.select_n(MASK, k, k[::-1]),
    "lax.slice": lambda k: lax.slice(k, (1,), (3,)),
    "lax.slice_in_dim": lambda k: lax.slice_in_dim(k, 1, 3),
    "lax.split": lambda k: lax.split(k, (2, 4))[1],
    "lax.squeeze": lambda k: lax.squeeze(k[None], (0,)),
    "lax.tile": lambda k: lax.tile(k, (2,)),
    "lax.transpose": lambda k: lax.transpose(k.reshape(2, 3), (1, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_keys_move_as_their_words_do(name):
    f = MOVES[name]
    wanted = [np.asarray(f(lane)) for lane in KEYS.lanes]
    for g in (f, jit(f)):
        result = g(KEYS)
        assert result.dtype == KEYS.dtype
        for lane, words in zip(result.lanes, wanted, strict=True):
            np.testing.assert_array_equal(lane, words)


def test_under_vmap():
    result = vmap(lambda x, y: dnp.stack([x, y]))(KEYS, KEYS[::-1])
    np.testing.assert_array_equal(random.key_data(result[:, 0]), random.key_data(KEYS))


def test_what_keys_do_not_go_with():
    none = "dtype key<(fry|rbg)> takes no part in type promotion"
    with pytest.raises(TypeError, match=f"{none} in where at .*test_m"):
        dnp.where(True, A, 0)
    with pytest.raises(TypeError, match=f"{none} in stack at .*test_m"):
        dnp.stack([A, random.key(0, impl="rbg")])
    with pytest.raises(TypeError, match=r"add does not accept dtype key<fry> at .*test_m"):
        dnp.add(A, B)
    with pytest.raises(ValueError, match="axis 5 is out of bounds"):
        dnp.stack([A, B], axis=5)
