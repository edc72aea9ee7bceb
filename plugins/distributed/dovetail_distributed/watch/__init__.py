"""Every process watches process 0, which watches all of them, over a TCP connection each.

``hub`` runs in process 0 and ``member`` in every process; ``ending`` ends a process that cannot go
on, ``messages`` are exchanged by them, and ``stalls`` finds results that never come.
"""
