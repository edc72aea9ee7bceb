"""A fuzzer: random programs under random stacks of transformations, held to laws.

A *program* (``programs``) is a list of steps, each with its text in Dovetail and in NumPy; it is
made by ``generation`` from the families in ``elementwise``, ``shaping``, ``contracting``,
``ends`` (leaves), ``regions``, ``references`` and ``ruled_references`` (steps with programs
inside). A *case* (``cases``) is a program, arguments, a stack of transformations
(``transformations``, and ``surroundings`` and ``stateful`` for what is around a function), and a
way of ``evaluation``. The program's values are compared with NumPy's; the outermost
transformation with what its law says of the function below, which is evaluated: a ``vmap`` with a
loop, a ``jvp`` with finite differences, a ``vjp`` with the ``jvp`` by dot products, second
derivatives in three orders with each other, and what should change nothing (``jit``,
``checkpoint``, printing and parsing, dead-code elimination) with nothing changed.

A case that fails is made small (``shrinking``) and printed (``script``). Run some by::

    make fuzz N=1000 SEED=0 WORKERS=2

which is ``python -m fuzz`` in the folder ``tests``. Cases are numbered, and the same each time.
"""
