"""``dovetail memory``: live memory over a program, and the lines that own it."""
