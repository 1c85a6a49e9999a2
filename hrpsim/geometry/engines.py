# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Registry of the distance engines. To add an engine, add a file and an entry in ENGINES."""

from hrpsim.common.errors import HrpsimError, require_name
from hrpsim.geometry.coal_engine import CoalEngine
from hrpsim.geometry.distance_engine import DistanceEngine
from hrpsim.geometry.fcl_engine import FclEngine

# The first installed engine is the default.
ENGINES: dict[str, type[DistanceEngine]] = {"coal": CoalEngine, "fcl": FclEngine}
_EXTRAS = {"coal": "geometry", "fcl": "fcl"}


def distance_engine(name: str | None = None) -> DistanceEngine:
    """Create the distance engine with a given name, or the first installed engine of ENGINES.

    Raises:
        HrpsimError: if the name is unknown or the engine is not installed.
    """
    if name is not None:
        require_name("engine", name, ENGINES, HrpsimError)
    for kind in ENGINES.values() if name is None else (ENGINES[name],):
        try:
            return kind()
        except ImportError:
            continue
    package = name or "coal"
    raise HrpsimError(
        f"distances and collisions outside the simulation step need the package {package}. "
        f"Install it: pip install 'hrpsim[{_EXTRAS[package]}]'"
    )
