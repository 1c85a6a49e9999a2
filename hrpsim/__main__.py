# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run the command `hrpsim` by `python -m hrpsim`."""

import sys

from hrpsim.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
