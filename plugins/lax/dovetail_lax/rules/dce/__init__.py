"""Rules of ``dce``."""
