"""`python -m codefathom`: the command `fathom` of this interpreter."""

import sys

from codefathom.cli import main

sys.exit(main())
