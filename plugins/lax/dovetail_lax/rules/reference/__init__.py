"""Rules of ``backends.reference``: the primitives on arrays by NumPy and SciPy."""
