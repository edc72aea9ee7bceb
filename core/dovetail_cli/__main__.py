"""``python -m dovetail_cli``, where the script ``dovetail`` is not installed."""

import sys

from . import main

sys.exit(main())
