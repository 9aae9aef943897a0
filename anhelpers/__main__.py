"""`python -m anhelpers` is `anhelpers`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
