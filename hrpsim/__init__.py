"""hrpsim: a simulator of HRP-style humanoids with accurate rigid contact.

Names are imported when they are first used, so that `import hrpsim` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
    from hrpsim.model.compound import Compound
    from hrpsim.model.convex_hull import ConvexHull
    from hrpsim.model.geometry import Box, Capsule, Cylinder, Mesh, Plane, Sphere
    from hrpsim.model.height_field import HeightField
    from hrpsim.model.load import load_model
    from hrpsim.model.mesh_files import load_mesh
    from hrpsim.model.model import Model
    from hrpsim.world.batch import Batch
    from hrpsim.world.load import load_world
    from hrpsim.world.world import World

_HOME = {
    "Batch": "world.batch",
    "Box": "model.geometry",
    "Capsule": "model.geometry",
    "Compound": "model.compound",
    "ConvexHull": "model.convex_hull",
    "Cylinder": "model.geometry",
    "HeightField": "model.height_field",
    "HrpsimError": "errors",
    "Mesh": "model.geometry",
    "Model": "model.model",
    "ModelError": "errors",
    "ModelWarning": "errors",
    "Plane": "model.geometry",
    "Sphere": "model.geometry",
    "StateError": "errors",
    "World": "world.world",
    "WorldError": "errors",
    "center_of_mass": "dynamics.functions",
    "energy": "dynamics.functions",
    "forward_dynamics": "dynamics.functions",
    "inverse_dynamics": "dynamics.functions",
    "link_jacobian": "dynamics.functions",
    "link_pose": "dynamics.functions",
    "load_mesh": "model.mesh_files",
    "load_model": "model.load",
    "load_world": "world.load",
    "mass_matrix": "dynamics.functions",
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
]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'hrpsim' has no attribute {name!r}")
    return getattr(import_module(f"hrpsim.{_HOME[name]}"), name)


def __dir__():
    return sorted(__all__)
