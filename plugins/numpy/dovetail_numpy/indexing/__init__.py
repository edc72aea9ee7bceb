"""Indexing: reading and functional updates with NumPy's indices."""
