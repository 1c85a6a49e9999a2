# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which experiments exist: the files of studies/ called e<number>_<topic>.py or r<number>_..."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from hrpsim.errors import HrpsimError, unknown_name
from hrpsim.experiments.framework.experiment import Experiment

_STUDIES = Path(__file__).parent.parent / "studies"
_FILE = re.compile(r"([er])(\d+)_\w+\.py")


def available() -> dict[str, str]:
    """Return the module of each experiment by its name, E1 first, R1 after the last E."""
    files = (match for path in _STUDIES.iterdir() if (match := _FILE.match(path.name)))
    numbered = sorted((match[1].upper(), int(match[2]), match[0][:-3]) for match in files)
    return {f"{kind}{n}": f"hrpsim.experiments.studies.{module}" for kind, n, module in numbered}


def find(names: list[str]) -> list[Experiment]:
    """Return the experiments called `names` ("E7", "e7", or "all"), each once, in that order.

    Raises HrpsimError that lists what exists if a name is unknown.
    """
    modules = available()
    wanted: list[str] = []
    for name in names:
        if name.lower() == "all":
            wanted += modules
        elif name.upper() in modules:
            wanted.append(name.upper())
        else:
            raise HrpsimError(unknown_name("experiment", name, [*modules, "all"], limit=20))
    return [import_module(modules[name]).EXPERIMENT for name in dict.fromkeys(wanted)]
