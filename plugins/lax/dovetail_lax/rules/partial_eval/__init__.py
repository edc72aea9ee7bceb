"""Rules of ``ad.partial_eval``."""
