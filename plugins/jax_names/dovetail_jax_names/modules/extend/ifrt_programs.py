"""``jax.extend.ifrt_programs``: programs of the runtime beside those of XLA (orbax asks for it)."""

from dovetail_xla.execution import ifrt_programs as ifrt_programs
