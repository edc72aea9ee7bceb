"""``python -m dovetail`` is the command ``dovetail``, of that interpreter."""

from dovetail_cli import main as _main

if __name__ == "__main__":
    raise SystemExit(_main())
