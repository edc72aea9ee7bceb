"""``dovetail launch``: the processes of a program on this machine."""
