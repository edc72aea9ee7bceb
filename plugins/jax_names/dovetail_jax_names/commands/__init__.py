"""``dovetail run`` and ``dovetail check``."""
