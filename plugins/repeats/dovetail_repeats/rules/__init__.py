"""Rules of the primitive ``repeated``."""
