"""Rules of the primitive ``jit`` for the tables that need more than its form."""
