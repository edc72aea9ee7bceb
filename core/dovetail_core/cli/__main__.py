"""``python -m dovetail_core.cli``, where the script ``dovetail`` is not installed."""

import sys

from . import main

sys.exit(main())
