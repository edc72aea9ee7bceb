"""Parts of a program that repeat are compiled once: found in its IR, and called where they stand."""
