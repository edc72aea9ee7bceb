"""Rules of the primitives of ``shard_map`` for the tables of others."""
