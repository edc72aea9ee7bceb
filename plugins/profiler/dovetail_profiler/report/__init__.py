"""``dovetail profile``: what was traced, compiled and run while a script ran, and why."""
