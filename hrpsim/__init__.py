# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim: a simulator of HRP-style humanoids with accurate rigid contact.

Names are imported when they are first used, so that `import hrpsim` costs nothing.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "ACTUATOR_PRESETS",
    "Actuator",
    "Batch",
    "Body",
    "Box",
    "Camera",
    "CameraView",
    "Capsule",
    "Checkpoint",
    "CollisionShape",
    "Compound",
    "Connection",
    "ConstraintEdge",
    "Contact",
    "ContactArrays",
    "ContactPad",
    "ContactProblem",
    "ContactProblemError",
    "ContactSolution",
    "ContactView",
    "Convergence",
    "Converted",
    "ConvexHull",
    "Cylinder",
    "EnergyBalance",
    "EnergyFlow",
    "Frame",
    "Geometry",
    "HeightField",
    "HeightScan",
    "HrpsimError",
    "Joint",
    "Lidar",
    "Linearization",
    "Logger",
    "Mesh",
    "MeshUse",
    "Model",
    "ModelError",
    "ModelWarning",
    "OutputDerivatives",
    "Picture",
    "Plane",
    "RayHits",
    "RendererError",
    "Robot",
    "SampledSensor",
    "ScanView",
    "Sensor",
    "SensorView",
    "Sphere",
    "StateError",
    "StepStats",
    "World",
    "WorldError",
    "WorldFrame",
    "center_of_mass",
    "contact_problem",
    "convert",
    "dump_contact_problem",
    "energy",
    "fit",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "link_jacobian",
    "link_pose",
    "load_contact_problem",
    "load_mesh",
    "load_model",
    "load_world",
    "mass_matrix",
    "share_path",
    "solve_contacts",
    "sweep",
]

if TYPE_CHECKING:
    from hrpsim.bag.logger import Logger
    from hrpsim.common.errors import HrpsimError, ModelError, ModelWarning, StateError, WorldError
    from hrpsim.common.resources import share_path
    from hrpsim.common.version import __version__ as __version__
    from hrpsim.derivatives.step_derivatives import ConstraintEdge, Linearization, OutputDerivatives
    from hrpsim.derivatives.tangent import (
        forward_dynamics_derivatives,
        inverse_dynamics_derivatives,
    )
    from hrpsim.engine.dynamics.functions import (
        center_of_mass,
        energy,
        forward_dynamics,
        inverse_dynamics,
        link_jacobian,
        link_pose,
        mass_matrix,
    )
    from hrpsim.engine.solvers.contact_problem import (
        ContactProblem,
        ContactProblemError,
        ContactSolution,
        solve_contacts,
    )
    from hrpsim.fitting.fit import fit
    from hrpsim.model.actuator import ACTUATOR_PRESETS, Actuator
    from hrpsim.model.convert import Converted, convert
    from hrpsim.model.load import load_model
    from hrpsim.model.model import CollisionShape, Frame, Joint, MeshUse, Model, Sensor
    from hrpsim.model.sensors.camera import Camera
    from hrpsim.model.sensors.contact_pad import ContactPad
    from hrpsim.model.sensors.height_scan import HeightScan
    from hrpsim.model.sensors.lidar import Lidar
    from hrpsim.model.sensors.sampled_sensor import SampledSensor
    from hrpsim.model.shapes.compound import Compound
    from hrpsim.model.shapes.convex_hull import ConvexHull
    from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Sphere
    from hrpsim.model.shapes.mesh_files import load_mesh
    from hrpsim.model.shapes.terrain import HeightField
    from hrpsim.sweeps.sweep import sweep
    from hrpsim.viewer.rendering.renderer import Picture, RendererError
    from hrpsim.world.batch import Batch
    from hrpsim.world.checkpoint import Checkpoint
    from hrpsim.world.contact_problem import (
        contact_problem,
        dump_contact_problem,
        load_contact_problem,
    )
    from hrpsim.world.file.load_world import load_world
    from hrpsim.world.objects.body import Body
    from hrpsim.world.objects.camera_view import CameraView
    from hrpsim.world.objects.connection import Connection
    from hrpsim.world.objects.contact_arrays import ContactArrays
    from hrpsim.world.objects.contact_view import ContactView
    from hrpsim.world.objects.robot import Robot
    from hrpsim.world.objects.scan_view import ScanView
    from hrpsim.world.objects.sensor_view import SensorView
    from hrpsim.world.objects.world_frame import WorldFrame
    from hrpsim.world.parts.energy import EnergyBalance, EnergyFlow
    from hrpsim.world.parts.rays import RayHits
    from hrpsim.world.parts.results import Contact, Convergence, StepStats
    from hrpsim.world.world import World
else:
    __getattr__, __dir__ = lazy_names(__name__)
