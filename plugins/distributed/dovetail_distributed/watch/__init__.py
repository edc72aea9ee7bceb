"""Every process watches process 0, which watches all of them, over a TCP connection each.

``hub`` is what process 0 runs, ``member`` what every process runs, ``ending`` what becomes of a
process that cannot go on, ``messages`` what they say to each other.
"""
