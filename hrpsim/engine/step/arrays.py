# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""All arrays that a compiled step reads and writes, as fields of one named tuple."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.actuators.records import Actuators
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.fields import Axis, Life, array, constant, part, state
from hrpsim.engine.constraints.connection_rows import CONNECTION_RECORD
from hrpsim.engine.constraints.contact_rows import MATERIAL_PAIR
from hrpsim.engine.constraints.joint_rows import (
    JOINT_HOLD,
    JOINT_KINDS,
    JOINT_PARAMETERS,
    JOINT_ROW_COUNT,
    JOINT_ROWS,
)
from hrpsim.engine.constraints.placed_connection import PLACED_CONNECTION
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.constraints.tendon_rows import Tendons
from hrpsim.engine.dynamics.articulated import ARTICULATED
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.dynamics.joint_forces import CONTROL, FRICTION
from hrpsim.engine.dynamics.spin import TURNING
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import KINEMATICS
from hrpsim.engine.sensors.sensing import SENSOR
from hrpsim.engine.solvers.direct_system import DirectSystem
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem
from hrpsim.engine.step.audit.records import Audit
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.impacts.records import Impacts
from hrpsim.engine.step.motion.records import SPIN, Momentum, Rk4
from hrpsim.engine.step.rows.records import WORST_ROW
from hrpsim.engine.step.scene.islands import Islands
from hrpsim.engine.step.scene.records import (
    COUNTS,
    FAILURE,
    MEMORY,
    SEARCH,
    SETTINGS,
    STEP_STATS,
    WRENCH,
    Start,
)
from hrpsim.engine.step.sleep_detection import REST


class Work(NamedTuple):
    """Arrays with intermediate values of one step, indexed like the arrays of the scene."""

    velocity_middle: np.ndarray = array("where a step finds its forces", "f8", Axis.DOF)
    velocity_after_impacts: np.ndarray = array(
        "after the impacts at the start of the step", "f8", Axis.DOF
    )
    effort: np.ndarray = array("of springs, dampers, gains [N or Nm]", "f8", Axis.DOF)
    applied: np.ndarray = array("what actuators deliver [N or Nm]", "f8", Axis.DOF)
    joint_inertia: np.ndarray = array("rotors' and implicit gains' [kg or kg m^2]", "f8", Axis.DOF)
    actuator_inertia: np.ndarray = array("the gains' share [kg or kg m^2]", "f8", Axis.DOF)
    friction: np.ndarray = array(
        "dry friction of joints, by a row or not", FRICTION, Axis.DOF, life=Life.CACHE
    )
    dv: np.ndarray = array("acceleration without constraints", "f8", Axis.DOF)
    constraint_effort: np.ndarray = array("efforts of joint constraints [N or Nm]", "f8", Axis.DOF)
    change: np.ndarray = array("acceleration that constraints add", "f8", Axis.DOF)
    no_effort: np.ndarray = array("zeros", "f8", Axis.DOF)
    correction_velocity: np.ndarray = array(
        "displacement rate of the position correction", "f8", Axis.DOF
    )
    q_nearest: np.ndarray = array("where rigid connections were off by least", "f8", Axis.POSITION)
    geometric_stiffness: np.ndarray = array(
        "inertia that loaded connections add: xx, yy, zz, xy, xz, yz", "f8", Axis.BODY, 6
    )
    directions: np.ndarray = array("normal and tangents of a contact", "f8", 3, 3)
    turning: np.ndarray = array("series of a body that turns freely", "f8", *TURNING)
    placed_connection: np.ndarray = array(
        "the connection whose rows are written", PLACED_CONNECTION, 1
    )


class Scene(NamedTuple):
    """All arrays of a world for the kernels, with their declarations (engine.compile.fields)."""

    settings: np.ndarray = state("of the world", SETTINGS, 1)
    clock: np.ndarray = state("steps done since the start or the last reset", "i8", 1)
    step_stats: np.ndarray = state("what users read of the last step", STEP_STATS, 1)
    counts: np.ndarray = state("how many entries of the arrays are used", COUNTS, 1)
    search: np.ndarray = state("what the search for contacts found", SEARCH, 1)
    failure: np.ndarray = state("why a step cannot be done", FAILURE, 1)
    worst: np.ndarray = state(
        "the row furthest from its law, in the last step and in a call of `step`", WORST_ROW, 2
    )
    start: Start = part(Start)
    forest: Forest = part(Forest)
    q: np.ndarray = state("positions [m, rad, quaternion]", "f8", Axis.POSITION)
    velocity: np.ndarray = state(
        "velocities, in the kernels' layout [m/s or rad/s]", "f8", Axis.DOF
    )
    past_accelerations: np.ndarray = state(
        "of the last step and those before it", "f8", Axis.DOF, MEMORY
    )
    control: np.ndarray = state("each actuator's targets and gains", CONTROL, Axis.DOF)
    actuators: Actuators = part(Actuators)
    tendons: Tendons = part(Tendons)
    joint_parameters: np.ndarray = state(
        "stiffness of joint constraints, by kind", JOINT_PARAMETERS, Axis.DOF, len(JOINT_KINDS)
    )
    joint_holds: np.ndarray = state("locks and motors", JOINT_HOLD, Axis.DOF)
    joint_rows: np.ndarray = array("which rows each joint has", JOINT_ROWS, Axis.DOF)
    joint_impulses: np.ndarray = state(
        "of joint constraints in the last step, by row from LOWER_LIMIT on",
        "f8",
        Axis.DOF,
        JOINT_ROW_COUNT,
    )
    joint_impact_impulses: np.ndarray = state(
        "what came besides at once, by row from LOWER_LIMIT on", "f8", Axis.DOF, JOINT_ROW_COUNT
    )
    kinematics: np.ndarray = array(
        "each body's pose and velocity", KINEMATICS, Axis.BODY, life=Life.RESULT
    )
    articulated: np.ndarray = array("each body's articulated inertia", ARTICULATED, Axis.BODY)
    collision: Collision = part(Collision)
    materials: np.ndarray = constant(
        "of pairs of materials", MATERIAL_PAIR, Axis.MATERIAL, Axis.MATERIAL
    )
    solver_choice: np.ndarray = constant(
        "solver of contacts, by the solver classes of their shapes",
        "i8",
        Axis.SOLVER_CLASS,
        Axis.SOLVER_CLASS,
    )
    connections: np.ndarray = state(
        "what is connected to what",
        CONNECTION_RECORD,
        Axis.CONNECTION,
        refers={"body_a": Axis.BODY, "body_b": Axis.BODY},
    )
    constrained: ConstraintBodies = part(ConstraintBodies)
    rows: Rows = part(Rows)
    islands: Islands = part(Islands)
    rests: np.ndarray = state(
        "each body: its rest, whether it may sleep", REST, Axis.BODY, carries=()
    )
    spins: np.ndarray = array("each body: how it turns in an rk4 step", SPIN, Axis.BODY)
    rk4: Rk4 = part(Rk4)
    momentum: Momentum = part(Momentum)
    continuous: ContinuousDetection = part(ContinuousDetection)
    impacts: Impacts = part(Impacts)
    audit: Audit = part(Audit)
    direct: DirectSystem = part(DirectSystem, "the system of the direct solver, its factors")
    newton: NewtonSystem = part(NewtonSystem, "the problem of an island for Newton's method")
    newton_part: NewtonSystem = part(NewtonSystem, "the problem of a cluster of that island")
    wrenches: np.ndarray = state(
        "that users apply in this call of `step`",
        WRENCH,
        Axis.WRENCH,
        refers={"body": Axis.BODY},
        live="wrench_count",
    )
    sensors: np.ndarray = state(
        "force/torque sensors and IMUs, and what they read",
        SENSOR,
        Axis.SENSOR,
        refers={"body": Axis.BODY},
        carries=("reading", "slot"),
    )
    past_readings: np.ndarray = state(
        "what sensors with a latency measured", "f8", Axis.SENSOR, Axis.READING, 6
    )
    lazy_kernels: np.ndarray = array(
        "addresses of kernels, and which are requested (hrpsim.engine.compile.lazy_kernels)",
        "i8",
        2,
        life=Life.PROCESS,
    )
    work: Work = part(Work)
