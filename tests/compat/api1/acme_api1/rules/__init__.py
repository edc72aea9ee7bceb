"""Rules, a module for each table."""
