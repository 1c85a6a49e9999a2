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

    velocity_middle: np.ndarray = array(
        "velocity at which forces are evaluated [m/s or rad/s]", "f8", Axis.DOF
    )
    velocity_after_impacts: np.ndarray = array(
        "velocity after the impacts at the start of the step", "f8", Axis.DOF
    )
    effort: np.ndarray = array("effort of springs, dampers and gains [N or Nm]", "f8", Axis.DOF)
    applied: np.ndarray = array("effort of actuators over the step [N or Nm]", "f8", Axis.DOF)
    joint_inertia: np.ndarray = array(
        "rotor inertia and implicit terms [kg or kg m^2]", "f8", Axis.DOF
    )
    actuator_inertia: np.ndarray = array(
        "implicit terms of actuators [kg or kg m^2]", "f8", Axis.DOF
    )
    friction: np.ndarray = array(
        "dry friction of joints, with or without a row", FRICTION, Axis.DOF, life=Life.CACHE
    )
    dv: np.ndarray = array("acceleration without constraint forces", "f8", Axis.DOF)
    constraint_effort: np.ndarray = array("efforts of joint constraints [N or Nm]", "f8", Axis.DOF)
    change: np.ndarray = array("change of acceleration by constraint forces", "f8", Axis.DOF)
    no_effort: np.ndarray = array("zero joint efforts, for `wrench_response`", "f8", Axis.DOF)
    correction_velocity: np.ndarray = array(
        "displacement rate of the position correction", "f8", Axis.DOF
    )
    q_nearest: np.ndarray = array(
        "positions with the least error of rigid connections", "f8", Axis.POSITION
    )
    geometric_stiffness: np.ndarray = array(
        "geometric stiffness of loaded connections: xx, yy, zz, xy, xz, yz", "f8", Axis.BODY, 6
    )
    directions: np.ndarray = array("normal and two tangents of a contact, as rows", "f8", 3, 3)
    turning: np.ndarray = array("power series of the rotation of a free body", "f8", *TURNING)
    placed_connection: np.ndarray = array(
        "connection whose rows are being written", PLACED_CONNECTION, 1
    )


class Scene(NamedTuple):
    """All arrays of a world for the kernels, with their declarations (engine.compile.fields)."""

    settings: np.ndarray = state("settings of the world", SETTINGS, 1)
    clock: np.ndarray = state("steps done since the start or the last reset", "i8", 1)
    step_stats: np.ndarray = state("solver statistics of the last step", STEP_STATS, 1)
    counts: np.ndarray = state("number of used entries of the arrays", COUNTS, 1)
    search: np.ndarray = state("counts of the contact search", SEARCH, 1)
    failure: np.ndarray = state("cause of a failed step", FAILURE, 1)
    worst: np.ndarray = state(
        "row with the largest residual in the last step and in a call of `step`", WORST_ROW, 2
    )
    start: Start = part(Start)
    forest: Forest = part(Forest)
    q: np.ndarray = state("positions [m, rad, quaternion]", "f8", Axis.POSITION)
    velocity: np.ndarray = state(
        "velocities in the layout of the kernels [m/s or rad/s]", "f8", Axis.DOF
    )
    past_accelerations: np.ndarray = state(
        "accelerations of past steps, the last one first", "f8", Axis.DOF, MEMORY
    )
    control: np.ndarray = state("targets and gains of actuators", CONTROL, Axis.DOF)
    actuators: Actuators = part(Actuators)
    tendons: Tendons = part(Tendons)
    joint_parameters: np.ndarray = state(
        "stiffness of joint constraints, by kind", JOINT_PARAMETERS, Axis.DOF, len(JOINT_KINDS)
    )
    joint_holds: np.ndarray = state(
        "state of joint locks and velocity motors", JOINT_HOLD, Axis.DOF
    )
    joint_rows: np.ndarray = array("constraint rows of each joint", JOINT_ROWS, Axis.DOF)
    joint_impulses: np.ndarray = state(
        "impulses of joint constraints in the last step, by row from LOWER_LIMIT on",
        "f8",
        Axis.DOF,
        JOINT_ROW_COUNT,
    )
    joint_impact_impulses: np.ndarray = state(
        "impulses of impacts in the step, by row from LOWER_LIMIT on",
        "f8",
        Axis.DOF,
        JOINT_ROW_COUNT,
    )
    kinematics: np.ndarray = array(
        "pose and velocity of each body", KINEMATICS, Axis.BODY, life=Life.RESULT
    )
    articulated: np.ndarray = array("articulated inertia of each body", ARTICULATED, Axis.BODY)
    collision: Collision = part(Collision)
    materials: np.ndarray = constant(
        "friction and contact constants of pairs of materials",
        MATERIAL_PAIR,
        Axis.MATERIAL,
        Axis.MATERIAL,
    )
    solver_choice: np.ndarray = constant(
        "solver of contacts, by the solver classes of their shapes",
        "i8",
        Axis.SOLVER_CLASS,
        Axis.SOLVER_CLASS,
    )
    connections: np.ndarray = state(
        "connections between bodies",
        CONNECTION_RECORD,
        Axis.CONNECTION,
        refers={"body_a": Axis.BODY, "body_b": Axis.BODY},
    )
    constrained: ConstraintBodies = part(ConstraintBodies)
    rows: Rows = part(Rows)
    islands: Islands = part(Islands)
    rests: np.ndarray = state("sleep detection of each body", REST, Axis.BODY, carries=())
    spins: np.ndarray = array("rotation of each body in an rk4 step", SPIN, Axis.BODY)
    rk4: Rk4 = part(Rk4)
    momentum: Momentum = part(Momentum)
    continuous: ContinuousDetection = part(ContinuousDetection)
    impacts: Impacts = part(Impacts)
    audit: Audit = part(Audit)
    direct: DirectSystem = part(DirectSystem, "matrix and factors of the direct solver")
    newton: NewtonSystem = part(NewtonSystem, "the problem of an island for Newton's method")
    newton_part: NewtonSystem = part(NewtonSystem, "the problem of a cluster of an island")
    wrenches: np.ndarray = state(
        "wrenches of users in a call of `step`",
        WRENCH,
        Axis.WRENCH,
        refers={"body": Axis.BODY},
        live="wrench_count",
    )
    sensors: np.ndarray = state(
        "force/torque sensors and IMUs with readings",
        SENSOR,
        Axis.SENSOR,
        refers={"body": Axis.BODY},
        carries=("reading", "slot"),
    )
    past_readings: np.ndarray = state(
        "past measurements of sensors with a latency", "f8", Axis.SENSOR, Axis.READING, 6
    )
    lazy_kernels: np.ndarray = array(
        "addresses of kernels, and which are requested (hrpsim.engine.compile.lazy_kernels)",
        "i8",
        2,
        life=Life.PROCESS,
    )
    work: Work = part(Work)
