"""Attacks on Dovetail in processes of their own, for a chosen time: ``make torture``.

An area of attacks is a module of ``torture.areas``. Its docstring's first line says what it does.
It has

- ``attempt(rng, begin)``: make one attack, chosen by ``rng``, a ``random.Random``; call
  ``begin(kind)`` before it begins, where ``kind`` is its row in the table. Any exception is a
  failure; so is a process that dies, or that is not done after ``LIMIT`` seconds;
- ``LIMIT``: seconds, and ``BATCH``: how many attacks one process makes before it is replaced.

Attack ``n`` of an area with some seed is the same each time: ``python -m torture --only AREA
--seed S --number n`` repeats it.
"""
