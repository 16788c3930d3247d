"""``python -m kappaguard`` is the command line."""

import sys

from kappaguard.cli import main

sys.exit(main())
