"""Wrong inputs to public functions: valid calls, hostile arguments, and judgement of what is said.

``calls/*.txt`` has valid calls, as texts that NumPy-like libraries with these names share. A wrong
input is such a text with one or two arguments replaced or added (``mutation``). ``evaluation`` runs
texts in the library that it is told; ``judging`` says of an error whether it is clear; ``table``
counts, and compares what is accepted with another library's answers.
"""
