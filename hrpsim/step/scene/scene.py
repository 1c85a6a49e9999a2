"""Everything a compiled step reads and writes, as one tuple of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.collision.contacts import Collision
from hrpsim.constraints.contact_rows import CONTACT_LAW
from hrpsim.constraints.joined_frames import JOINED
from hrpsim.constraints.rows import Rows
from hrpsim.constraints.spring_rows import PLACED_HINGE, SPRING_HINGE
from hrpsim.dynamics.response import Ports
from hrpsim.dynamics.tree_momentum import SUBTREE
from hrpsim.kinematics.forest import Forest
from hrpsim.solvers.direct_system import DirectSystem
from hrpsim.step.scene.islands import Islands

SEMI_IMPLICIT, EULER, RK4 = range(3)

SETTINGS = np.dtype(
    [
        ("time_step", "f8"),  # [s]
        ("gravity", "f8", (3,)),  # [m/s^2]
        ("integrator", "i8"),
        ("sweep_limit", "i8"),
        ("cold_sweep_limit", "i8"),  # of an island with contacts that begin
        ("tolerance", "f8"),  # largest change of a row's velocity in the last sweep [m/s]
        ("relative_tolerance", "f8"),  # of all impulses in the last sweep; 0: that rule is not used
        ("contact_margin", "f8"),  # distance at which contact points are kept [m]
        ("skin", "f8"),  # distance shapes may move before pairs are looked for again [m]
        ("projection", "i8"),  # whether rigid connections are brought back onto their error 0
        ("continuous", "i8"),  # whether fast shapes pass through nothing
        *CONTACT_LAW,
        ("rest_steps", "i8"),  # how long a loose body is at rest before it may sleep; 0: none does
    ]
)

# what a step counts and measures, and what it leaves for the next
TALLY = np.dtype(
    [
        ("candidate_count", "i8"),  # -1: no list of candidate pairs yet
        ("calm", "i8"),  # whether no shape is fast, nor far from where candidates were listed
        ("contact_count", "i8"),
        ("found_count", "i8"),  # contacts that the last step found, done or not
        ("new_count", "i8"),  # contacts that the last step did not have
        ("previous_count", "i8"),
        ("born_count", "i8"),  # contacts that were new in any step before
        ("row_count", "i8"),
        ("connection_rows", "i8"),
        ("port_count", "i8"),
        ("wrench_count", "i8"),
        ("due", "i8"),  # status that asks for something to be done before the next step
        ("struck", "i8"),  # whether the step began with impacts
        ("impact_rounds", "i8"),  # rounds in which impacts with restitution were solved
        ("looks", "i8"),  # how often contacts were looked for further away, for impacts
        ("passes", "i8"),  # how often the step was begun anew for what would pass through something
        ("passage_count", "i8"),  # contacts that are made for that
        ("flies", "i8"),  # whether shapes say whether they fly
        ("undrifted", "i8"),  # whether any body takes its forces at the start of the step
        ("impact_looks", "i8"),  # how often a pair was looked at for its time of impact
        ("impacts_cut", "i8"),  # searches for one that were cut off, since the last reset
        ("impacts_left", "i8"),  # gaps that still closed when there were too many rounds
        ("leaks", "i8"),  # whether the momentum of floating trees needs to be kept in this step
        ("displaces", "i8"),  # whether the rows ask for displacements, not for velocities
        ("pushed", "i8"),  # whether `push` is to be applied
        ("direct_rows", "i8"),  # for the direct solver
        ("split_rows", "i8"),
        ("island_count", "i8"),
        ("direct_island", "i8"),  # the one with direct and split rows, -1 for none
        ("asleep", "i8"),  # loose bodies that sleep
        ("factorisations", "i8"),
        ("unfinished", "i8"),  # whether the direct solver gave its rows to the iteration
        ("sweeps", "i8"),
        ("residual", "f8"),  # [m/s]
        ("worst_row", "i8"),  # the row furthest from its law, if they were looked at
        ("worst_residual", "f8"),  # of the steps of a call that did not converge [m/s]
        ("worst_kind", "i8"),  # of the worst row of all steps of a call; -1: not known
        ("worst_source", "i8"),  # what it belongs to, as in ROW; of a contact, its first shape
        ("worst_other", "i8"),  # of a contact, its second shape
        ("converged", "i8"),  # whether the sweeps came to their end
        ("penetration", "f8"),  # deepest [m]
        ("stiffness", "f8"),  # largest (k dt^2 + 2 c dt) / m of penalty contacts that began
        ("descents", "i8"),  # steps of the steepest descent
        ("short", "f8"),  # furthest that it left a row short of its velocity [m/s]
        ("needed", "i8"),  # capacity asked for, or the body at fault, when a step cannot be done
        ("fault_kind", "i8"),  # row that is to blame when a step cannot be done; -1: none
        ("fault_source", "i8"),  # what it belongs to, as in `worst_source`
        ("fault_other", "i8"),
        ("fault_stiffness", "f8"),  # of a penalty contact that is to blame [N/m]
    ]
)

# a force that a user applies
WRENCH = np.dtype(
    [
        ("body", "i8"),
        ("point", "f8", (3,)),  # in the body frame [m]
        ("force", "f8", (3,)),  # in the world [N]
        ("torque", "f8", (3,)),  # in the world, about the point [Nm]
    ]
)

# per body: constraint forces that RK4 holds through its stages, where body and tree origin were
HELD = np.dtype(
    [
        ("load", "f8", (6,)),
        ("p", "f8", (3,)),
        ("origin", "f8", (3,)),
        ("center", "f8", (3,)),  # of mass, at the start of an rk4 step, from the tree's origin [m]
        ("spin", "f8", (3, 3)),  # what the start, middle and end of a step add to its turn [rad]
        ("momentum", "f8", (3,)),  # angular, of a loose body at the start of an rk4 step [Nms]
        ("turns_far", "i8"),  # whether the midpoint rule of spin foretells how a loose body turns
        ("gyroscopic", "f8", (3,)),  # what that adds to its angular acceleration [rad/s^2]
        ("guided", "i8"),  # whether it moves as foretold in an rk4 step (loose_rotation)
        ("end_rate", "f8", (3,)),  # its angular velocity at the end then [rad/s]
        ("tree_momentum", "f8", (3,)),  # of a floating tree, in its root: expected after the step
        ("fastest", "f8"),  # of its velocities, at both ends of the step
        ("struck_load", "f8", (6,)),  # what the impacts at the start of the step did [Ns]
        ("struck_motion", "f8", (6,)),  # [m/s]
        ("undrifted", "i8"),  # whether it takes its forces at the start of a step (drift)
        ("timed", "i8"),  # whether impacts on a body that is alone happen at their times; 2: did so
        ("earliest", "f8"),  # of a tree, in its root: fraction of the step after which it meets any
        ("cluster", "i8"),  # of a body: with whom its tree it stands still; -1: with the world
        ("since", "f8"),  # the same: since when it does [s]
        ("stopped", "i8"),  # the same: whether it does
        ("tension", "f8", (6,)),  # inertia that loaded connections add: xx, yy, zz, xy, xz, yz
    ]
)


class Work(NamedTuple):
    """Vectors that live for one step."""

    q_start: np.ndarray  # (nq,)
    velocity_start: np.ndarray  # (nv,)
    tally_start: np.ndarray  # (1,) TALLY
    joint_struck_start: np.ndarray  # (nv, 6)
    spring_hinges_start: np.ndarray  # (spring hinges,) SPRING_HINGE
    q_swept: np.ndarray  # (nq,) where the motion begins that is looked at for impacts
    q_carried: np.ndarray  # (nq,) where it ends, or where it has come to
    carried: np.ndarray  # (nv,) its velocity
    velocity_middle: np.ndarray  # (nv,) where a step finds its forces
    q_struck: np.ndarray  # (nq,) where an rk4 step starts after its impacts
    velocity_struck: np.ndarray  # (nv,) after the impacts at the start of the step
    effort: np.ndarray  # (nv,)
    applied: np.ndarray  # (nv,) what actuators deliver
    joint_inertia: np.ndarray  # (nv,)
    dv: np.ndarray  # (nv,) acceleration without constraints
    joint_load: np.ndarray  # (nv,) efforts of joint constraints
    change: np.ndarray  # (nv,) acceleration that constraints add
    no_effort: np.ndarray  # (nv,) zeros
    push: np.ndarray  # (nv,) displacement rate of the position correction
    rate: np.ndarray  # (4, nq) of RK4's stages
    acceleration: np.ndarray  # (4, nv) of RK4's stages
    q_nearest: np.ndarray  # (nq,) where rigid connections were off by least
    held: np.ndarray  # (n,) HELD
    subtrees: np.ndarray  # (n,) SUBTREE of floating trees
    directions: np.ndarray  # (3, 3)
    joined: np.ndarray  # (1,) JOINED
    placed_hinge: np.ndarray  # (1,) PLACED_HINGE


class Scene(NamedTuple):
    """A whole world for the kernels; `n` bodies."""

    settings: np.ndarray  # (1,) SETTINGS
    clock: np.ndarray  # (1,) steps done since the start or the last reset
    tally: np.ndarray  # (1,) TALLY
    forest: Forest
    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,) kernels' layout
    past_accelerations: np.ndarray  # (nv, 3) of the last step and those before it
    control: np.ndarray  # (nv,) CONTROL
    joint_laws: np.ndarray  # (nv, 5) JOINT_LAW
    joint_holds: np.ndarray  # (nv,) JOINT_HOLD
    joint_impulses: np.ndarray  # (nv,) JOINT_IMPULSE
    joint_struck: np.ndarray  # (nv, 6) what came besides at once, by kind from LOWER_LIMIT on
    kinematics: np.ndarray  # (n,) KINEMATICS
    articulated: np.ndarray  # (n,) ARTICULATED
    collision: Collision
    materials: np.ndarray  # (k, k) MATERIAL_PAIR
    solver_choice: np.ndarray  # (c, c) solver of contacts, by the solver classes of their shapes
    connections: np.ndarray  # (connections,) JOIN
    spring_hinges: np.ndarray  # (spring hinges,) SPRING_HINGE
    ports: Ports
    rows: Rows
    islands: Islands
    direct: DirectSystem
    wrenches: np.ndarray  # (capacity,) WRENCH
    sensors: np.ndarray  # (sensors,) SENSOR
    late: np.ndarray  # (LATE_COUNT,) addresses of kernels (hrpsim.jit.late), 0: not needed yet
    work: Work


def new_work(body_count: int, nq: int, nv: int) -> Work:
    """Return zeroed work vectors."""
    shapes = {
        "q_start": nq,
        "q_struck": nq,
        "q_nearest": nq,
        "q_swept": nq,
        "q_carried": nq,
        "rate": (4, nq),
        "acceleration": (4, nv),
        "directions": (3, 3),
        "joint_struck_start": (nv, 6),
    }
    arrays = {name: np.zeros(shapes.get(name, nv)) for name in Work._fields}
    arrays["tally_start"] = np.zeros(1, dtype=TALLY)
    arrays["spring_hinges_start"] = np.zeros(0, dtype=SPRING_HINGE)
    arrays["joined"] = np.zeros(1, dtype=JOINED)
    arrays["placed_hinge"] = np.zeros(1, dtype=PLACED_HINGE)
    arrays["subtrees"] = np.zeros(body_count, dtype=SUBTREE)
    arrays["held"] = np.zeros(body_count, dtype=HELD)
    return Work(**arrays)
