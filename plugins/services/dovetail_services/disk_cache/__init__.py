"""The on-disk compilation cache: compiled programs, found again by later processes.

What is loaded from it is run as code, so it is verified first: ``trust`` tells which folders and
files may be used and has the secret that entries are signed with, ``entry`` is the format of an
entry and checks every byte of it, ``folder`` reads, writes and evicts entries, ``store`` puts these
together.
``provider`` reads executables and writes those that are not there, for the versions and the
processor of this process; ``command`` shows what is in the cache.
"""
