"""Rules for the tables of other plugins."""
