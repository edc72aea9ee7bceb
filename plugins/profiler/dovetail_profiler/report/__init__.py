"""``dovetail profile``: traces, compilations and runs of a script, with their reasons."""
