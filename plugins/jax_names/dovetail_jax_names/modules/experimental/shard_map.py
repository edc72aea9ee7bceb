"""``jax.experimental.shard_map``: ``shard_map`` as it was, with its options by position."""

from ...lookup import attributes as _attributes

_OLDER = "dovetail.experimental.shard_map.shard_map", "jax.shard_map"

__getattr__, __dir__ = _attributes("jax.experimental.shard_map", old={"shard_map": _OLDER})
