"""Rules of ``remat.cost``: the work of operations that is not one flop for each element."""
