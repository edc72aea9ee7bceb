"""Rules of the row ``jit`` for the columns that need more than its form."""
