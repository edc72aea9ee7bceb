"""Each public function beside the peer's, on many kinds of values: ``make differential``.

The calls are texts that both libraries understand: those of ``torture/inputs``, which has one for
each public function, and ``calls/scipy.txt``. A *variant* says what the names in them stand for:
element types, empty arrays, hostile numbers, 64-bit types. Each library evaluates all of it in a
process of its own, values and gradients; what differs is told, unless ``reasons`` says why it is
meant to.
"""
