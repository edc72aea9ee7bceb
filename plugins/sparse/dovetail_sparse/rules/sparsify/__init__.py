"""Rules for operations of dense arrays on sparse ones, by family."""
