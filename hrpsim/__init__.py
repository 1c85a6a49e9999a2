# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim: a simulator of HRP-style humanoids with accurate rigid contact.

Names are imported when they are first used, so that `import hrpsim` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hrpsim.moved import redirect

if TYPE_CHECKING:
    from hrpsim.dynamics.functions import (
        center_of_mass,
        energy,
        forward_dynamics,
        inverse_dynamics,
        link_jacobian,
        link_pose,
        mass_matrix,
    )
    from hrpsim.errors import HrpsimError, ModelError, ModelWarning, StateError, WorldError
    from hrpsim.model.load import load_model
    from hrpsim.model.model import Model
    from hrpsim.model.shapes.compound import Compound
    from hrpsim.model.shapes.convex_hull import ConvexHull
    from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Mesh, Plane, Sphere
    from hrpsim.model.shapes.height_field import HeightField
    from hrpsim.model.shapes.mesh_files import load_mesh
    from hrpsim.sweeps.sweep import sweep
    from hrpsim.version import __version__ as __version__
    from hrpsim.world.batch import Batch
    from hrpsim.world.file.load import load_world
    from hrpsim.world.world import World

redirect()

_HOME = {
    "__version__": "version",
    "Batch": "world.batch",
    "Box": "model.shapes.geometry",
    "Capsule": "model.shapes.geometry",
    "Compound": "model.shapes.compound",
    "ConvexHull": "model.shapes.convex_hull",
    "Cylinder": "model.shapes.geometry",
    "HeightField": "model.shapes.height_field",
    "HrpsimError": "errors",
    "Mesh": "model.shapes.geometry",
    "Model": "model.model",
    "ModelError": "errors",
    "ModelWarning": "errors",
    "Plane": "model.shapes.geometry",
    "Sphere": "model.shapes.geometry",
    "StateError": "errors",
    "World": "world.world",
    "WorldError": "errors",
    "center_of_mass": "dynamics.functions",
    "energy": "dynamics.functions",
    "forward_dynamics": "dynamics.functions",
    "inverse_dynamics": "dynamics.functions",
    "link_jacobian": "dynamics.functions",
    "link_pose": "dynamics.functions",
    "load_mesh": "model.shapes.mesh_files",
    "load_model": "model.load",
    "load_world": "world.file.load",
    "mass_matrix": "dynamics.functions",
    "sweep": "sweeps.sweep",
}

__all__ = [
    "Batch",
    "Box",
    "Capsule",
    "Compound",
    "ConvexHull",
    "Cylinder",
    "HeightField",
    "HrpsimError",
    "Mesh",
    "Model",
    "ModelError",
    "ModelWarning",
    "Plane",
    "Sphere",
    "StateError",
    "World",
    "WorldError",
    "center_of_mass",
    "energy",
    "forward_dynamics",
    "inverse_dynamics",
    "link_jacobian",
    "link_pose",
    "load_mesh",
    "load_model",
    "load_world",
    "mass_matrix",
    "sweep",
]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'hrpsim' has no attribute {name!r}")
    return getattr(import_module(f"hrpsim.{_HOME[name]}"), name)


def __dir__():
    return sorted(__all__)
