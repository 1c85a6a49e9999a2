# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The candidate list: pairs of shapes that may meet before the list is made again."""

import math

from hrpsim.engine.collision.body_bounds import all_quiet, fastest_within, note_listing
from hrpsim.engine.collision.contacts import far_apart
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import FAST
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    IndexTable,
    Indices,
    Kinematics,
    Matrix,
    Metres,
    Records,
    Seconds,
    Settings,
    Shape,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import placed_point
from hrpsim.model.shapes.geometry import PLANE


@inner_kernel
def refresh_candidates(
    settings: Settings,
    forest: Forest,
    kinematics: Records[Kinematics],
    count: int,
    collision: Collision,
) -> int:
    """Update the shapes' centres and reach, and list the candidate pairs again if required.

    The list holds pairs that can come within `contact_margin` [m] plus the reach of both shapes.
    The reach is the motion in a step. The list is valid until a shape has moved by about `skin`
    [m]. With `continuous`, the reach is limited to a fraction of the shape's thickness, because
    continuous collision detection covers longer motions.

    Args:
        settings: settings of the step.
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        count: present number of candidate pairs. -1 means that there is no list yet.
        collision: shapes and contacts of the world.

    Returns:
        The number of candidate pairs. If the number exceeds the capacity, the list was not made.
    """
    stale = place_centers(settings, forest, kinematics, collision)
    if not stale and count >= 0:
        return count
    count = list_candidates(settings.contact_margin, settings.skin, collision)
    note_listing(forest, kinematics, collision.shapes, collision.moving, collision.body_bounds)
    return count


@inlined_kernel
def keep_candidates(
    settings: Settings, forest: Forest, kinematics: Records[Kinematics], collision: Collision
) -> bool:
    """Update the listed shapes if the candidate list is still complete and no shape is fast.

    Shapes in no listed pair are not updated.

    Returns:
        Whether the list is still valid. If not, nothing was changed.
    """
    margin, dt = settings.contact_margin, settings.time_step
    if not all_quiet(forest, kinematics, margin, dt, FAST, collision.body_bounds):
        return False
    for k in range(collision.moving.shape[0]):
        shape = collision.shapes[collision.moving[k]]
        if shape.listed:
            _place_center(forest, kinematics, dt, settings.continuous, shape)
    return True


@inner_kernel
def place_centers(
    settings: Settings, forest: Forest, kinematics: Records[Kinematics], collision: Collision
) -> bool:
    """Update the centres of all moving shapes and the distances that they can move in a step.

    Returns:
        Whether a shape has moved so far that the candidate list may be incomplete.
    """
    margin, dt, continuous = settings.contact_margin, settings.time_step, settings.continuous
    stale = False
    for k in range(collision.moving.shape[0]):
        shape = collision.shapes[collision.moving[k]]
        _place_center(forest, kinematics, dt, continuous, shape)
        center, listed = shape.center, shape.listed_center
        dx, dy, dz = center[0] - listed[0], center[1] - listed[1], center[2] - listed[2]
        left = shape.listed_slack - shape.travel - 0.5 * margin
        if not (left > 0.0 and dx * dx + dy * dy + dz * dz < left * left):
            stale = True
    return stale


@inlined_kernel
def _place_center(
    forest: Forest,
    kinematics: Records[Kinematics],
    time_step: Seconds,
    continuous: int,
    shape: Shape,
) -> None:
    """Update the centre, travel and reach of a shape in a step.

    The field `driven` of the shape [m] is the additional motion by impacts within the step.
    """
    center, t = shape.center, shape.placement_p
    link = kinematics[shape.body]
    origin = kinematics[forest.bodies[shape.body].root].origin
    x, y, z = placed_point(link.R, link.p, t)
    speed = fastest_within(link.v, x, y, z, shape.radius)
    shape.travel = time_step * speed + shape.driven
    shape.swift = 0
    shape.reach = shape.travel
    if continuous:
        shape.reach = min(shape.travel, FAST * shape.thickness)
    center[0], center[1], center[2] = origin[0] + x, origin[1] + y, origin[2] + z


@inner_kernel
def list_candidates(margin: Metres, skin: Metres, collision: Collision) -> int:
    """List the candidate pairs from the shapes' centres and travel, and return the number of pairs.

    If the number exceeds the capacity, the list is not made.

    Args:
        margin: largest gap of a contact at rest [m].
        skin: distance that a shape may move before the next list [m].
        collision: shapes and contacts of the world.
    """
    shapes = collision.shapes
    for s in range(shapes.shape[0]):
        shape = shapes[s]
        if shape.body < 0:
            shape.reach = shape.travel = 0.0
            for r in range(3):
                shape.center[r] = shape.placement_p[r]
        shape.listed_slack = skin + margin + 2.0 * shape.travel
        half_width = math.inf if shape.kind == PLANE else shape.radius + shape.listed_slack
        for r in range(3):
            shape.listed_center[r] = shape.center[r]
            collision.lower[s, r] = shape.center[r] - half_width
            collision.upper[s, r] = shape.center[r] + half_width
        shape.listed = 0
    for k in range(collision.body_bounds.shape[0]):
        collision.body_bounds[k].slack = -1.0  # the list of the last step is outdated
    result = candidate_pairs(
        collision.lower,
        collision.upper,
        collision.group,
        collision.order,
        collision.moving_in_order,
        collision.pairs,
    )
    if result > collision.pairs.shape[0]:
        return result
    return _keep_near(shapes, drop_pairs(collision.excluded, result, collision.pairs), collision)


@inlined_kernel
def _keep_near(shapes: Records[Shape], count: int, collision: Collision) -> int:
    """Keep the pairs whose bounding balls may meet. Return the number of pairs.

    If one shape is a fixed plane, the distance of the other's ball from the plane decides.
    """
    pairs, remaining = collision.pairs, 0
    for c in range(count):
        a, b = shapes[pairs[c, 0]], shapes[pairs[c, 1]]
        if not far_apart(a, b, a.listed_slack + b.listed_slack):
            a.listed = b.listed = 1
            pairs[remaining, 0], pairs[remaining, 1] = pairs[c, 0], pairs[c, 1]
            collision.separations[remaining].known = 0
            collision.separations[remaining].clear = 0.0
            remaining += 1
    return remaining


@inner_kernel
def _axis_of_largest_spread(lower: Matrix, upper: Matrix) -> int:
    """Return the axis (0..2) along which the centres of the finite boxes vary most."""
    best_axis = 0
    best_spread = -1.0
    for axis in range(3):
        count = 0
        mean = 0.0
        spread = 0.0
        for k in range(lower.shape[0]):
            center = 0.5 * (lower[k, axis] + upper[k, axis])
            if math.isfinite(center):
                count += 1
                away = center - mean
                mean += away / count
                spread += away * (center - mean)
        if spread > best_spread:
            best_axis = axis
            best_spread = spread
    return best_axis


@inner_kernel
def _sort_along(axis: int, lower: Matrix, order: Indices) -> None:
    """Sort the permutation `order` by lower bound, which is fast for a nearly sorted order."""
    for k in range(1, order.shape[0]):
        shape = order[k]
        bound = lower[shape, axis]
        slot = k
        while slot > 0 and lower[order[slot - 1], axis] > bound:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = shape


@inner_kernel
def _sort_pairs(count: int, pairs: IndexTable) -> None:
    """Sort pairs[:count] by first, then second entry (Shell's method: in place, no recursion)."""
    step = 1
    while step < count // 3:
        step = 3 * step + 1
    while step > 0:
        for k in range(step, count):
            a, b = pairs[k, 0], pairs[k, 1]
            slot = k
            while slot >= step and (
                pairs[slot - step, 0] > a
                or (pairs[slot - step, 0] == a and pairs[slot - step, 1] > b)
            ):
                pairs[slot, 0] = pairs[slot - step, 0]
                pairs[slot, 1] = pairs[slot - step, 1]
                slot -= step
            pairs[slot, 0] = a
            pairs[slot, 1] = b
        step //= 3


@kernel
def candidate_pairs(
    lower: Matrix,
    upper: Matrix,
    group: Indices,
    order: Indices,
    moving: Indices,
    pairs_out: IndexTable,
) -> int:
    """Write the pairs of shapes from different groups whose boxes overlap: sweep and prune.

    If more pairs are found than fit, the rows are incomplete. Then enlarge the array to the
    returned number, and call again.

    Args:
        lower: lower corners of the boxes (shape_count, 3) [m], including any margin. Corners may be
            infinite.
        upper: upper corners, as `lower`.
        group: group of each shape (shape_count,), int64. Shapes of one group never collide. A robot
            without self-collision is one group. All fixed shapes have the group -1.
        order: any permutation of the shapes (shape_count,), int64, sorted in place. The next call
            is faster with the same array.
        moving: work (shape_count,), int64.
        pairs_out: pairs a < b in ascending order (capacity, 2), int64, written.

    Returns:
        The number of pairs found.
    """
    axis = _axis_of_largest_spread(lower, upper)
    _sort_along(axis, lower, order)
    second, third, capacity = (axis + 1) % 3, (axis + 2) % 3, pairs_out.shape[0]
    count = moving_count = next_moving = 0
    for k in range(order.shape[0]):
        if group[order[k]] >= 0:
            moving[moving_count] = k
            moving_count += 1
    for k in range(order.shape[0]):
        i = order[k]
        reach = upper[i, axis]
        if next_moving < moving_count and moving[next_moving] == k:
            next_moving += 1
        # what is fixed meets only what moves
        is_fixed = group[i] < 0
        at, end = (next_moving, moving_count) if is_fixed else (k + 1, order.shape[0])
        for later in range(at, end):
            j = order[moving[later]] if is_fixed else order[later]
            if lower[j, axis] > reach:
                break
            if (
                group[i] != group[j]
                and lower[j, second] <= upper[i, second]
                and lower[i, second] <= upper[j, second]
                and lower[j, third] <= upper[i, third]
                and lower[i, third] <= upper[j, third]
            ):
                if count < capacity:
                    pairs_out[count, 0], pairs_out[count, 1] = min(i, j), max(i, j)
                count += 1
    if count <= capacity:
        _sort_pairs(count, pairs_out)
    return count


@kernel
def drop_pairs(excluded: IndexTable, count: int, pairs: IndexTable) -> int:
    """Remove excluded pairs from a list of pairs in place.

    Args:
        excluded: pairs to remove (k, 2), ascending.
        count: number of pairs.
        pairs: pairs (count or more, 2), ascending, changed.

    Returns:
        The number of remaining pairs.
    """
    remaining = k = 0
    for c in range(count):
        a, b = pairs[c, 0], pairs[c, 1]
        while k < excluded.shape[0] and (
            excluded[k, 0] < a or (excluded[k, 0] == a and excluded[k, 1] < b)
        ):
            k += 1
        if k < excluded.shape[0] and excluded[k, 0] == a and excluded[k, 1] == b:
            continue
        pairs[remaining, 0], pairs[remaining, 1] = a, b
        remaining += 1
    return remaining
