"""Search for the origin of nan and infinity (``debug_nans``, ``debug_infs``), and for leaks."""
