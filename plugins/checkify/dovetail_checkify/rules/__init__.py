"""Rules of the primitive ``check``."""
