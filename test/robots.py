# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots for any test: ours, and those that the PyPI package example-robot-data ships.

@pytest.mark.parametrize("path", EXAMPLE_ROBOTS.values(), ids=EXAMPLE_ROBOTS)
"""

from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from hrpsim import Model, load_model

HRP2_LIKE = Path(__file__).resolve().parent.parent / "urdf" / "hrp2_like.urdf.xacro"

# Their inertia is not that of any matter: refused unless accept_nonphysical_inertia is given.
NONPHYSICAL_ROBOTS = {
    "romeo_description/romeo": "RThumb3Link",
    "romeo_description/romeo_laas_small": "base_link",
    "romeo_description/romeo_small": "RShoulderYawLink",
}

# Files that are not sound URDF: what the error must name.
BROKEN_ROBOTS = {
    "alex_description/alex_psyonic_hands": "joint 'index_q1' does not exist",
    "ur_description/ur3": "attribute 'name' is missing",
}


@cache
def humanoid(bush: bool) -> Model:
    """Return hrp2_like, with the rubber bushes of its soles or without."""
    return load_model(HRP2_LIKE, xacro_arguments={"bush": bush})


class Shipped(dict):
    """Paths by name; where the package is not installed, the test that asks for one is skipped."""

    def __missing__(self, name: str):
        if not self:
            pytest.skip("example-robot-data is not installed")
        raise KeyError(name)


def _shipped() -> Shipped:
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return Shipped()
    paths = sorted(Path(f.locate()).resolve() for f in listed if f.suffix == ".urdf")
    return Shipped({f"{path.parent.parent.name}/{path.stem}": path for path in paths})


ALL_ROBOTS = _shipped()
EXAMPLE_ROBOTS = Shipped({k: path for k, path in ALL_ROBOTS.items() if k not in BROKEN_ROBOTS})
