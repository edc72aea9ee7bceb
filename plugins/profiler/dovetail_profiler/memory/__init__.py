"""``dovetail memory``: what is in memory while a program runs, and which lines own it."""
