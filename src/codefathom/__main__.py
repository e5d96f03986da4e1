"""`python -m codefathom`: the command `fathom` of this interpreter."""

import sys

from codefathom.system.isolation import leave_working_directory_out

leave_working_directory_out()

from codefathom.cli import main  # noqa: E402 -- no sooner: it would come from the working directory

sys.exit(main())
