"""``import dovetail.experimental.compilation_cache``: it holds the module of its name."""

__all__: list[str] = []
