"""``python -m forearm`` is the ``forearm`` command."""

import sys

from forearm.cli import main

sys.exit(main())
