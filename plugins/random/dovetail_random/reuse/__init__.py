"""Keys that are used twice: the option ``debug_key_reuse``, its rule table and its check."""
