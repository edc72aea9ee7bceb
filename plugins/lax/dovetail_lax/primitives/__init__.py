"""The primitives on arrays, by family: a module defines those of its own alone."""
