"""The options about raw and typed keys."""

import warnings

import numpy as np
import pytest

import dovetail_random as random
from dovetail_jit import jit
from dovetail_random.draws.continuous import high_dynamic_range_gumbel
from dovetail_random.generators import (
    enable_custom_prng,
    legacy_prng_key,
    random_seed_offset,
)


def test_raw_keys_can_be_refused():
    raw = random.PRNGKey(0)
    with legacy_prng_key("error"):
        with pytest.raises(
            ValueError, match=r"normal was given a raw key, an array of uint32 words"
        ):
            random.normal(raw, (2,))
        random.normal(random.key(0), (2,))
        random.normal(random.wrap_key_data(raw), (2,))


def test_raw_keys_can_be_warned_of():
    raw = random.PRNGKey(0)
    with legacy_prng_key("warn"), warnings.catch_warnings(record=True) as result:
        warnings.simplefilter("always")
        random.split(raw)
    assert result[0].category is UserWarning
    assert result[0].filename == __file__
    with pytest.raises(ValueError, match="legacy_prng_key is 'allow', 'warn' or 'error', not 3"):
        legacy_prng_key(3)


def test_typed_keys_by_the_old_name():
    with enable_custom_prng():
        key = random.PRNGKey(3)
    assert key.dtype == random.key(0).dtype
    np.testing.assert_array_equal(random.key_data(key), random.PRNGKey(3))


def test_arrays_of_keys_tell_what_each_device_has():
    keys = random.split(random.key(0), 4)
    for (shard,) in (keys.addressable_shards, keys.global_shards):
        assert shard.data.dtype == keys.dtype and shard.data.shape == (4,)
        assert shard.index == (slice(None),) and shard.replica_id == 0
    assert keys.unsafe_buffer_pointer() > 0


def test_an_offset_of_all_seeds():
    with random_seed_offset(3):
        for make in (random.PRNGKey, jit(random.PRNGKey)):
            np.testing.assert_array_equal(make(5), [0, 8])
        np.testing.assert_array_equal(random.key_data(random.key(-1)), [0, 2])
        np.testing.assert_array_equal(random.PRNGKey(np.int8(127)), [0, 2**32 - 126])
    np.testing.assert_array_equal(jit(random.PRNGKey)(5), [0, 5])
    with pytest.raises(ValueError, match=r"random_seed_offset is an integer, not 1\.5"):
        random_seed_offset(1.5)


def test_the_mode_of_gumbel_numbers_that_name_none():
    key = random.key(1)
    with high_dynamic_range_gumbel(True):
        high = random.gumbel(key, (3,))
        chosen = random.categorical(key, np.zeros(4), shape=(5,))
    np.testing.assert_array_equal(high, random.gumbel(key, (3,), mode="high"))
    np.testing.assert_array_equal(
        chosen, random.categorical(key, np.zeros(4), shape=(5,), mode="high")
    )
    np.testing.assert_array_equal(random.gumbel(key, (3,)), random.gumbel(key, (3,), mode="low"))
