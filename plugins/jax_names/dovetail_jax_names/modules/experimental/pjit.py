"""``jax.experimental.pjit``: ``jit`` by its old name (orbax, brax)."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.experimental.pjit", old={"pjit": "jax.jit"})
