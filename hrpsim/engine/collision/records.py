# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of collision: shapes, contacts, the points of one pair, and arrays of these records."""

from typing import Any, NamedTuple

import numpy as np

from hrpsim.engine.collision.body_bounds import BODY_BOUNDS
from hrpsim.engine.collision.mesh.solid_pair import (
    CANDIDATE,
    CANDIDATE_COUNT,
    SEPARATION,
    SOLID_PAIR,
)
from hrpsim.engine.collision.primitives.contact_row import MAX_MESH_POINTS
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.time_of_impact import MOTION, SPECULATIVE
from hrpsim.engine.compile.fields import Axis, Life, array, constant, part, state

SHAPE = np.dtype(
    [
        ("kind", "i8"),
        ("size", "f8", (3,)),
        ("body", "i8"),  # -1: the world itself
        ("placement_R", "f8", (3, 3)),  # in the body frame
        ("placement_p", "f8", (3,)),  # [m]
        ("radius", "f8"),  # radius of the bounding sphere about the shape origin [m]
        ("solid", "i8"),  # index in the polyhedra; -1: no polyhedron
        ("material", "i8"),
        ("asleep", "i8"),  # 1: the shape is fixed in the world while the body sleeps
        ("solver_class", "i8"),  # shapes of one class have the same solvers against all others
        ("center", "f8", (3,)),  # shape origin in the world [m]
        ("thickness", "f8"),  # smallest width of the shape [m]
        ("travel", "f8"),  # largest distance that the surface can move in a step [m]
        ("reach", "f8"),  # part of `travel` that the contact search covers [m]
        ("driven", "f8"),  # distance that impacts of the step add to the motion [m]
        ("gained", "f8"),  # distance that the last round of impacts adds [m]
        ("swift", "i8"),  # 1: fast relative to another moving shape, 0: not
        (
            "ballistic",
            "i8",
        ),  # 1: its impacts have exact times, all contacts in reach are found; -1: not
        ("listed_center", "f8", (3,)),  # the centre when the candidate list was made
        ("listed", "i8"),  # 1: the shape is in a pair of the candidate list, 0: not
        ("listed_slack", "f8"),  # distance it may approach others by since listed [m]
    ]
)

# of a penalty contact
_PENALTY = np.dtype(
    [
        ("anchor_a", "f8", (3,)),  # where sticking began, in the frame of body a [m]
        ("anchor_b", "f8", (3,)),  # where sticking began, in the frame of body b [m]
        ("phase", "i8"),  # 0: open, otherwise the state of friction
        ("slip", "f8", (3,)),  # slip velocity in the last step [m/s]
        ("softening", "f8"),  # factor on the contact stiffness, for stability
    ]
)

# what an rk4 step moved a contact, which the next one corrects (engine.step.motion.stick_drift)
_DRIFT = np.dtype(
    [
        ("held_gap", "f8"),  # gap at which the contact was pressed [m]; inf: not pressed
        ("missed_gap", "f8"),  # `held_gap` of the last step minus the gap found [m]; inf: unknown
        ("has_slipped", "i8"),  # 1: the contact stuck and the next fields are valid, 0: not
        ("way", "f8", (3,)),  # slip of a over b, for constant arms [m]
        ("arm_a", "f8", (3,)),  # contact point relative to the centre of mass of a, world axes [m]
        ("arm_b", "f8", (3,)),  # contact point relative to the centre of mass of b, world axes [m]
        ("shift_a", "f8", (3, 3)),  # rotations: what changes of the arms add to the slip [rad]
        ("shift_b", "f8", (3, 3)),
    ]
)

# which solver of its island comes first in the next steps (step/rows/solver_memory.py)
SOLVER_MEMORY = np.dtype(
    [
        ("state", "i8"),  # solver that comes first (solver_memory.py)
        ("interval", "i8"),  # number of steps for which Newton's method comes first
        ("remaining", "i8"),  # number of steps of `interval` that remain
    ]
)

CONTACT = np.dtype(
    [
        ("shape_a", "i8"),
        ("shape_b", "i8"),
        ("feature", "i8"),  # stable identity within the pair
        ("body_a", "i8"),  # -1: the world
        ("body_b", "i8"),
        ("point_a", "f8", (3,)),  # relative to the origin of a's tree (world: absolute) [m]
        ("point_b", "f8", (3,)),  # the same point relative to the origin of b's tree [m]
        ("point", "f8", (3,)),  # the same point in the world, for users [m]
        ("normal", "f8", (3,)),  # from b to a: a force f >= 0 pushes a along +normal
        ("gap", "f8"),  # [m], negative inside
        ("is_new", "i8"),  # 1: the last step did not have this contact
        ("partner", "i8"),  # index in the contacts of the last step, if not new
        ("impulse", "f8", (3,)),  # impulse along the normal and the two tangents [Ns]
        ("warm", "f8", (3,)),  # part of `impulse` that starts the next solution [Ns]
        ("memory", SOLVER_MEMORY),
        ("forgotten", "i8"),  # of the last step's: whether it is not a warm start (a state was set)
        ("axis_angle", "f8"),  # of the friction pyramid's axes, drawn at the contact's birth [rad]
        ("turn", "f8", (2,)),  # cosine and sine between the tangents and the axes of its rows
        ("impact_impulse", "f8", (3,)),  # part of `impulse` that impacts cause [Ns]
        ("gap_offset", "f8"),  # change of the gap by impacts within the step [m]
        ("push_out", "f8"),  # displacement to the rest position within the step [m]
        ("late", "f8"),  # in a step of euler: how deep it was when its spring began [m]
        ("penalty", _PENALTY),
        ("stiffness", "f8"),  # [N/m]
        ("damping", "f8"),  # [Ns/m]
        ("slides", "i8"),  # whether it slips faster than the threshold at the start of the step
        ("slipping", "i8"),  # number of steps with slower slip than the threshold
        ("drift", _DRIFT),
        ("moved_a", "f8", (3,)),  # change of `point_a` since the last step; as the next: not if new
        ("moved_b", "f8", (3,)),  # [m]
        ("turned", "f8", (3,)),  # change of `normal`
        ("bend", "f8", (3,)),  # change of the contact velocity until the end of the step [m/s]
        ("bend_before", "f8", (3,)),  # `bend` of the last step [m/s]
        ("bends", "i8"),  # rows that include `bend` (contact_bending)
        ("asked", "f8"),  # velocity that the normal row asks for, without `bend` [m/s]
        ("missed", "f8", (3,)),  # what the rates of the last step left out of `bend` [m/s]
        ("added", "f8", (3,)),  # part of `bend` that corrects `missed` [m/s]
        ("push", "f8", (3,)),  # force on a in an rk4 step [N]
        ("curve_a", "f8", (3,)),  # change of `moved_a` since the last step of rk4 [m]
        ("curve_b", "f8", (3,)),
        ("rise", "f8", (3,)),  # change of `push` since the last step [N]
        ("closes", "i8"),  # 1: the normal row closes the rest of a gap
    ]
)

# impulse of a contact's friction against spin and rolling
MOMENT = np.dtype(
    [
        ("shape_a", "i8"),
        ("shape_b", "i8"),
        ("feature", "i8"),  # as in CONTACT
        ("impulse", "f8", (3,)),  # on a [Nms]
    ]
)

# work arrays for one pair of shapes
MANIFOLD = np.dtype(
    [
        ("shape_a", "i8"),  # the two shapes
        ("shape_b", "i8"),
        ("turned", "i8"),  # 1: shapes are in the opposite order of the candidate pair
        ("pair", "i8"),  # index of the candidate pair
        ("reference", "f8", (3,)),  # origin of the poses of the pair, in the world [m]
        ("R_a", "f8", (3, 3)),
        ("R_b", "f8", (3, 3)),
        ("p_a", "f8", (3,)),
        ("p_b", "f8", (3,)),
        ("spin", "f8", (3,)),  # angular velocity of a relative to b [rad/s]
        ("drift", "f8", (3,)),  # velocity of a relative to b at `reference` [m/s]
        ("spring_count", "i8"),  # contacts of the last step among which are springs; 0: no springs
        ("sink", "f8"),  # how deep springs have let both bodies sink in others; 0: no springs [m]
        ("point", "f8", (MAX_MESH_POINTS, 3)),
        ("normal", "f8", (MAX_MESH_POINTS, 3)),
        ("gap", "f8", (MAX_MESH_POINTS,)),
        ("feature", "i8", (MAX_MESH_POINTS,)),
    ]
)


_SHAPES = {"shape_a": Axis.SHAPE, "shape_b": Axis.SHAPE}
_SHAPES_AND_BODIES = _SHAPES | {"body_a": Axis.BODY, "body_b": Axis.BODY}


def _contacts(text: str, live: str) -> Any:
    """Declare an array of contacts. The number in use is the field `live` of the step's counts."""
    return state(text, CONTACT, Axis.CONTACT, refers=_SHAPES_AND_BODIES, live=live)


def _cache(text: str, dtype, *shape: Axis | int) -> Any:
    """Declare an array that belongs to the candidate list, and is valid as long as the list is."""
    return array(text, dtype, *shape, life=Life.CACHE)


class Collision(NamedTuple):
    """The shapes of a world and their contacts, as arrays of records for the kernels."""

    shapes: np.ndarray = constant(
        "geometry, placement, material and pose of each shape",
        SHAPE,
        Axis.SHAPE,
        refers={"body": Axis.BODY},
    )
    group: np.ndarray = constant(
        "collision group; equal groups never touch; -1: fixed world", "i8", Axis.SHAPE
    )
    lower: np.ndarray = _cache(
        "lower bounds when the candidate list was made [m]", "f8", Axis.SHAPE, 3
    )
    upper: np.ndarray = _cache(
        "upper bounds when the candidate list was made [m]", "f8", Axis.SHAPE, 3
    )
    moving: np.ndarray = constant("indices of the shapes on moving bodies", "i8", Axis.MOVING)
    body_bounds: np.ndarray = constant(
        "bounds of the bodies with shapes", BODY_BOUNDS, Axis.BODY_BOUNDS
    )
    order: np.ndarray = _cache("order of shapes in the broad phase", "i8", Axis.SHAPE)
    moving_in_order: np.ndarray = array("places of moving shapes in `order`", "i8", Axis.SHAPE)
    pairs: np.ndarray = _cache("candidate pairs of shapes", "i8", Axis.PAIR, 2)
    separations: np.ndarray = _cache(
        "separations of candidate pairs of convex solids", SEPARATION, Axis.PAIR
    )
    manifold: np.ndarray = array("contact points of the present pair of shapes", MANIFOLD, 1)
    polyhedra: Polyhedra = part(Polyhedra, "solids of the meshes and hulls")
    solid_pair: np.ndarray = array("work for a pair with a mesh", SOLID_PAIR, 1)
    solid_pair_candidates: np.ndarray = array(
        "candidate points of `solid_pair`", CANDIDATE, CANDIDATE_COUNT
    )
    contacts: np.ndarray = _contacts("contacts of the step, sorted by pair", "contact_count")
    previous: np.ndarray = _contacts(
        "contacts of the last step, read only in a step", "previous_count"
    )
    moments: np.ndarray = state(
        "impulses against spin and rolling in the last step, by pair",
        MOMENT,
        Axis.CONTACT,
        refers=_SHAPES,
        live="moment_count",
    )
    motions: np.ndarray = array("motions of shapes in steps with fast shapes", MOTION, Axis.SHAPE)
    speculative_contacts: np.ndarray = array(
        "speculative contacts of the step so far", SPECULATIVE, Axis.CONTACT
    )
    excluded: np.ndarray = constant(
        "pairs a < b of shapes that never meet, ascending", "i8", Axis.EXCLUDED, 2
    )
