"""The providers of executables that come with ``jit``, but for the cache on disk."""
