# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Types of the parameters and results of kernels, for readers, editors and type checkers.

Numba ignores these annotations, and infers the types of a kernel from the arguments of a call.
test/test_kernel_types.py compares annotations and inferred types.

A record is an element of an array with a structured dtype. The comment after a record type names
this dtype, which states each field with its unit. Subpackages above the engine declare their record
types next to the dtype.
"""

from typing import TYPE_CHECKING, Any, Generic, NewType, TypeAlias, TypeVar

import numpy as np

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

# Numbers. A plain float or int is a number whose docstring gives the unit, if it has one.
Seconds: TypeAlias = float
Metres: TypeAlias = float
Index: TypeAlias = int  # place in an array; -1 for none
Bits: TypeAlias = int  # 64 truth values
Lanes = NewType("Lanes", object)  # eight numbers in registers (hrpsim.engine.spatial.simd)

# Arrays of numbers
Vec2: TypeAlias = _Floats  # (2,)
Vec3: TypeAlias = _Floats  # (3,) x, y, z
Vec6: TypeAlias = _Floats  # (6,) spatial vector; angular part first if the docstring is silent
Mat3: TypeAlias = _Floats  # (3, 3) rotation R_ab from b to a, rotational inertia, or vectors by row
Mat6: TypeAlias = _Floats  # (6, 8) spatial matrix; two spare columns (hrpsim.engine.spatial.simd)
Inertia: TypeAlias = _Floats  # (10,) m, hx, hy, hz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz
Vector: TypeAlias = _Floats  # (n,)
Matrix: TypeAlias = _Floats  # (m, n)
Tensor: TypeAlias = _Floats  # three or more axes
Indices: TypeAlias = _Integers  # (n,) indices or counts
IndexTable: TypeAlias = _Integers  # (m, n)
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]] | np.ndarray[Any, np.dtype[np.uint8]]
BitSet: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]  # 64 truth values in each number


class Record:
    """An element of an array of records. The fields are attributes."""

    if TYPE_CHECKING:

        def __getattr__(self, field: str) -> Any: ...

        def __setattr__(self, field: str, value: Any) -> None: ...


_Element = TypeVar("_Element", bound=Record)


class Records(Generic[_Element]):
    """An array of records (n,), or (m, n) for pairs of materials and for memory of threads."""

    if TYPE_CHECKING:
        shape: tuple[int, ...]

        def __getitem__(self, place: Any) -> _Element: ...
        def __setitem__(self, place: Any, record: _Element) -> None: ...


class Arrays:
    """A named tuple of arrays, or a reference to one. The arrays are attributes."""

    if TYPE_CHECKING:

        def __getattr__(self, field: str) -> Any: ...


# Records
LazyKernels = NewType("LazyKernels", Record)  # a field for each lazily compiled kernel
# hrpsim.engine.actuators.records
Actuator = NewType("Actuator", Record)  # ACTUATOR
ActuatorState = NewType("ActuatorState", Record)  # ACTUATOR_STATE
ActuatorStep = NewType("ActuatorStep", Record)  # ACTUATOR_STEP
Command = NewType("Command", Record)  # COMMAND
# hrpsim.engine.collision.body_bounds
BodyBounds = NewType("BodyBounds", Record)  # BODY_BOUNDS
# hrpsim.engine.collision.mesh.expanding_polytope
Polytope = NewType("Polytope", Record)  # POLYTOPE
# hrpsim.engine.collision.mesh.facing_features
Facing = NewType("Facing", Record)  # FACING
FacingBlock = NewType("FacingBlock", Record)  # FACING_BLOCK
FacingEdge = NewType("FacingEdge", Record)  # FACING_EDGE
FacingFace = NewType("FacingFace", Record)  # FACING_FACE
FacingVertex = NewType("FacingVertex", Record)  # FACING_VERTEX
# hrpsim.engine.collision.solids.polyhedra
Edge = NewType("Edge", Record)  # EDGE
Grid = NewType("Grid", Record)  # GRID
Solid = NewType("Solid", Record)  # SOLID
SolidNode = NewType("SolidNode", Record)  # NODE
Spoke = NewType("Spoke", Record)  # SPOKE
Triangle = NewType("Triangle", Record)  # TRIANGLE
Vertex = NewType("Vertex", Record)  # VERTEX
# hrpsim.engine.collision.mesh.solid_pair
Candidate = NewType("Candidate", Record)  # CANDIDATE
Separation = NewType("Separation", Record)  # SEPARATION
SolidPair = NewType("SolidPair", Record)  # SOLID_PAIR
# hrpsim.engine.collision.records
Contact = NewType("Contact", Record)  # CONTACT
Drift = NewType("Drift", Record)  # _DRIFT
Manifold = NewType("Manifold", Record)  # MANIFOLD
Penalty = NewType("Penalty", Record)  # _PENALTY
Shape = NewType("Shape", Record)  # SHAPE
StoredMemory = NewType("StoredMemory", Record)  # SOLVER_MEMORY
# hrpsim.engine.collision.time_of_impact
ShapeMotion = NewType("ShapeMotion", Record)  # MOTION
Speculative = NewType("Speculative", Record)  # SPECULATIVE
# hrpsim.engine.constraints.connection_rows
Connection = NewType("Connection", Record)  # CONNECTION_RECORD
# hrpsim.engine.constraints.contact_rows
MaterialPair = NewType("MaterialPair", Record)  # MATERIAL_PAIR
# hrpsim.engine.constraints.impact_rows
Impact = NewType("Impact", Record)  # IMPACT
# hrpsim.engine.constraints.joint_rows
JointHold = NewType("JointHold", Record)  # JOINT_HOLD
JointParameters = NewType("JointParameters", Record)  # JOINT_PARAMETERS
# hrpsim.engine.constraints.placed_connection
PlacedConnection = NewType("PlacedConnection", Record)  # PLACED_CONNECTION
# hrpsim.engine.constraints.rows
Row = NewType("Row", Record)  # ROW
# hrpsim.engine.constraints.tendon_rows
TendonDrive = NewType("TendonDrive", Record)  # TENDON_DRIVE
# hrpsim.engine.dynamics.along_motion
LoadedLink = NewType("LoadedLink", Record)  # _LOADED
# hrpsim.engine.dynamics.articulated
Articulated = NewType("Articulated", Record)  # ARTICULATED
# hrpsim.engine.dynamics.constraint_bodies
ConstraintBody = NewType("ConstraintBody", Record)  # CONSTRAINT_BODY
Support = NewType("Support", Record)  # SUPPORT
# hrpsim.engine.dynamics.joint_forces
Control = NewType("Control", Record)  # CONTROL
Friction = NewType("Friction", Record)  # FRICTION
# hrpsim.engine.dynamics.tree_momentum
Subtree = NewType("Subtree", Record)  # SUBTREE
# hrpsim.engine.kinematics.chain_inverse
ChainLink = NewType("ChainLink", Record)  # LINK
ChainWork = NewType("ChainWork", Record)  # CHAIN_WORK
# hrpsim.engine.kinematics.forest
Body = NewType("Body", Record)  # BODY
Dof = NewType("Dof", Record)  # DOF
# hrpsim.engine.kinematics.forward
Kinematics = NewType("Kinematics", Record)  # KINEMATICS
# hrpsim.engine.rays.box_tree
Bin = NewType("Bin", Record)  # BIN
BoxNode = NewType("BoxNode", Record)  # NODE
Pending = NewType("Pending", Record)  # PENDING
# hrpsim.engine.rays.height_field
HeightField = NewType("HeightField", Record)  # FIELD
# hrpsim.engine.rays.records
Target = NewType("Target", Record)  # TARGET
# hrpsim.engine.rays.scanning
Scanner = NewType("Scanner", Record)  # SCANNER
# hrpsim.engine.rays.shapes
MeshTriangle = NewType("MeshTriangle", Record)  # TRIANGLE
Surface = NewType("Surface", Record)  # SURFACE
# hrpsim.engine.sensors.sensing
Sensor = NewType("Sensor", Record)  # SENSOR
# hrpsim.engine.solvers.contraction
Bundle = NewType("Bundle", Record)  # BUNDLE
Element = NewType("Element", Record)  # ELEMENT
GraphNode = NewType("GraphNode", Record)  # NODE
# hrpsim.engine.solvers.elimination
Column = NewType("Column", Record)  # COLUMN
Entry = NewType("Entry", Record)  # ENTRY
# hrpsim.engine.solvers.newton.coulomb_law
Constraint = NewType("Constraint", Record)  # CONSTRAINT
# hrpsim.engine.solvers.newton.newton_problem
Capacity = NewType("Capacity", Record)  # CAPACITY
# hrpsim.engine.solvers.newton.second_order_cone
ConePair = NewType("ConePair", Record)  # PAIR
# hrpsim.engine.solvers.newton.tree_coordinates
NodeTree = NewType("NodeTree", Record)  # NODE_TREE
# hrpsim.engine.solvers.projected_gauss_seidel
Island = NewType("Island", Record)  # ISLAND
# hrpsim.engine.step.audit.records
Audited = NewType("Audited", Record)  # AUDITED
# hrpsim.engine.step.impacts.records
Ball = NewType("Ball", Record)  # BALL
# hrpsim.engine.step.motion.records
FreeTurn = NewType("FreeTurn", Record)  # FREE_TURN
HeldForce = NewType("HeldForce", Record)  # HELD_FORCE
Spin = NewType("Spin", Record)  # SPIN
# hrpsim.engine.step.rows.records
WorstRow = NewType("WorstRow", Record)  # WORST_ROW
# hrpsim.engine.step.scene.islands
IslandTree = NewType("IslandTree", Record)  # TREE
# hrpsim.engine.step.scene.records
Counts = NewType("Counts", Record)  # COUNTS
Failure = NewType("Failure", Record)  # FAILURE
Search = NewType("Search", Record)  # SEARCH
Settings = NewType("Settings", Record)  # SETTINGS
StepStats = NewType("StepStats", Record)  # STEP_STATS
Wrench = NewType("Wrench", Record)  # WRENCH
# hrpsim.engine.step.side_by_side
Span = NewType("Span", Record)  # SPAN
Turn = NewType("Turn", Record)  # TURN
# hrpsim.engine.step.sleep_detection
Rest = NewType("Rest", Record)  # REST

# Named tuples of arrays, for kernels whose file cannot import the tuple
# hrpsim.engine.collision.records
Collision = NewType("Collision", Arrays)  # Collision
# hrpsim.engine.dynamics.articulated
Workspace = NewType("Workspace", Arrays)  # Workspace
# hrpsim.engine.rays.records
RayScene = NewType("RayScene", Arrays)  # RayScene
# hrpsim.engine.solvers.newton.newton_problem
NewtonSystem = NewType("NewtonSystem", Arrays)  # NewtonSystem
# hrpsim.engine.step.arrays
Scene = NewType("Scene", Arrays)  # Scene
Work = NewType("Work", Arrays)  # Work
# hrpsim.engine.step.motion.records
Rk4 = NewType("Rk4", Arrays)  # Rk4
# hrpsim.engine.step.rows.solver_memory
SolverMemory = NewType("SolverMemory", Arrays)  # SolverMemory
