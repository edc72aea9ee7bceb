"""Finding nan and infinity where they come up: ``debug_nans`` and ``debug_infs``."""
