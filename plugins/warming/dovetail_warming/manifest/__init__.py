"""The file in which a run records what it compiles, and the command that compiles what is in it."""
