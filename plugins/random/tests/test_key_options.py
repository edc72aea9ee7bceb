"""The options about raw and typed keys."""

import warnings

import numpy as np
import pytest

import dovetail_random as random
from dovetail_random.generators import enable_custom_prng, legacy_prng_key


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
    with legacy_prng_key("warn"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        random.split(raw)
    assert found[0].category is UserWarning
    assert found[0].filename == __file__
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
