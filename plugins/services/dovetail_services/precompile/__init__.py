"""Programs compiled ahead of their calls: in parallel by threads, and for later processes.

``compile_all`` is what users call, ``workers`` the threads and the display of their progress.
``recording`` writes down what a run compiles, in the format of ``entry`` in a ``file``; ``command``
compiles what is in it, by ``compiling``.
"""
