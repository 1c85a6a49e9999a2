# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim: a simulator of HRP-style humanoids with accurate rigid contact.

Names are imported when they are first used, so that `import hrpsim` costs nothing.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names
from hrpsim.common.moved import redirect

if TYPE_CHECKING:
    from hrpsim.common.errors import HrpsimError as HrpsimError
    from hrpsim.common.errors import ModelError as ModelError
    from hrpsim.common.errors import ModelWarning as ModelWarning
    from hrpsim.common.errors import StateError as StateError
    from hrpsim.common.errors import WorldError as WorldError
    from hrpsim.common.resources import share_path as share_path
    from hrpsim.common.version import __version__ as __version__
    from hrpsim.derivatives.step_derivatives import ConstraintEdge as ConstraintEdge
    from hrpsim.derivatives.step_derivatives import Linearization as Linearization
    from hrpsim.derivatives.tangent import (
        forward_dynamics_derivatives as forward_dynamics_derivatives,
    )
    from hrpsim.derivatives.tangent import (
        inverse_dynamics_derivatives as inverse_dynamics_derivatives,
    )
    from hrpsim.engine.dynamics.functions import center_of_mass as center_of_mass
    from hrpsim.engine.dynamics.functions import energy as energy
    from hrpsim.engine.dynamics.functions import forward_dynamics as forward_dynamics
    from hrpsim.engine.dynamics.functions import inverse_dynamics as inverse_dynamics
    from hrpsim.engine.dynamics.functions import link_jacobian as link_jacobian
    from hrpsim.engine.dynamics.functions import link_pose as link_pose
    from hrpsim.engine.dynamics.functions import mass_matrix as mass_matrix
    from hrpsim.engine.solvers.contact_problem import ContactProblem as ContactProblem
    from hrpsim.engine.solvers.contact_problem import ContactProblemError as ContactProblemError
    from hrpsim.engine.solvers.contact_problem import ContactSolution as ContactSolution
    from hrpsim.engine.solvers.contact_problem import solve_contacts as solve_contacts
    from hrpsim.fitting.fit import fit as fit
    from hrpsim.model.actuator import ACTUATOR_PRESETS as ACTUATOR_PRESETS
    from hrpsim.model.actuator import Actuator as Actuator
    from hrpsim.model.convert import Converted as Converted
    from hrpsim.model.convert import convert as convert
    from hrpsim.model.load import load_model as load_model
    from hrpsim.model.model import CollisionShape as CollisionShape
    from hrpsim.model.model import Frame as Frame
    from hrpsim.model.model import Joint as Joint
    from hrpsim.model.model import MeshUse as MeshUse
    from hrpsim.model.model import Model as Model
    from hrpsim.model.model import Sensor as Sensor
    from hrpsim.model.sampled_sensors import Camera as Camera
    from hrpsim.model.sampled_sensors import ContactPad as ContactPad
    from hrpsim.model.sampled_sensors import HeightScan as HeightScan
    from hrpsim.model.sampled_sensors import Lidar as Lidar
    from hrpsim.model.sampled_sensors import SampledSensor as SampledSensor
    from hrpsim.model.shapes.compound import Compound as Compound
    from hrpsim.model.shapes.convex_hull import ConvexHull as ConvexHull
    from hrpsim.model.shapes.geometry import Box as Box
    from hrpsim.model.shapes.geometry import Capsule as Capsule
    from hrpsim.model.shapes.geometry import Cylinder as Cylinder
    from hrpsim.model.shapes.geometry import Geometry as Geometry
    from hrpsim.model.shapes.geometry import Mesh as Mesh
    from hrpsim.model.shapes.geometry import Plane as Plane
    from hrpsim.model.shapes.geometry import Sphere as Sphere
    from hrpsim.model.shapes.mesh_files import load_mesh as load_mesh
    from hrpsim.model.shapes.terrain import HeightField as HeightField
    from hrpsim.sweeps.sweep import sweep as sweep
    from hrpsim.viewer.rendering.renderer import Picture as Picture
    from hrpsim.viewer.rendering.renderer import RendererError as RendererError
    from hrpsim.world.batch import Batch as Batch
    from hrpsim.world.checkpoint import Checkpoint as Checkpoint
    from hrpsim.world.contact_problem import contact_problem as contact_problem
    from hrpsim.world.contact_problem import dump_contact_problem as dump_contact_problem
    from hrpsim.world.contact_problem import load_contact_problem as load_contact_problem
    from hrpsim.world.file.load_world import load_world as load_world
    from hrpsim.world.objects.body import Body as Body
    from hrpsim.world.objects.camera_view import CameraView as CameraView
    from hrpsim.world.objects.connection import Connection as Connection
    from hrpsim.world.objects.contact_arrays import ContactArrays as ContactArrays
    from hrpsim.world.objects.contact_view import ContactView as ContactView
    from hrpsim.world.objects.robot import Robot as Robot
    from hrpsim.world.objects.scan_view import ScanView as ScanView
    from hrpsim.world.objects.sensor_view import SensorView as SensorView
    from hrpsim.world.objects.world_frame import WorldFrame as WorldFrame
    from hrpsim.world.parts.energy import EnergyBalance as EnergyBalance
    from hrpsim.world.parts.energy import EnergyFlow as EnergyFlow
    from hrpsim.world.parts.rays import RayHits as RayHits
    from hrpsim.world.parts.results import Contact as Contact
    from hrpsim.world.parts.results import Convergence as Convergence
    from hrpsim.world.parts.results import StepStats as StepStats
    from hrpsim.world.world import World as World
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)

redirect()
