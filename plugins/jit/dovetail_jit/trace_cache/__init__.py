"""The provider ``trace_cache``: results of tracing users' functions, while these are unchanged."""
