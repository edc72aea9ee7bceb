"""Parts of a program that repeat are compiled once: found in its IR, called where they stand."""
