"""Rules of the primitive ``jit``."""
