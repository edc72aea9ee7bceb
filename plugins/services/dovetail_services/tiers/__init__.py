"""Tiers: programs begin by NumPy or in a quickly compiled form; another process compiles in full.

``options`` declares the provider, ``provider`` chooses the programs, ``process`` is the process
that compiles as its parent sees it, ``worker`` what runs in it, ``requests`` what it is sent and
what its answers become. ``interpreted`` is a program that NumPy runs until it is compiled.
"""
