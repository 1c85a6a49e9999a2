# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The table of the arrays of a scene says truly what they are; all that handles them reads it."""

import numpy as np
import pytest
from world.scripted import everything

from hrpsim.engine.compile.fields import Axis, Life, allocate, at, declared_fields, replaced
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.arrays.change import with_room

FIELDS = dict(declared_fields(Scene))


@pytest.fixture(scope="module")
def scene():
    """A scene in which there is something of each kind."""
    return everything("semi_implicit").scene


@pytest.mark.parametrize("path", FIELDS)
def test_arrays_are_as_declared(path, scene):
    field, array = FIELDS[path], at(scene, path)
    assert array.ndim == len(field.shape)
    for axis, length in zip(field.shape, array.shape, strict=True):
        assert axis == length or isinstance(axis, Axis)
    if path != "lazy_kernels":  # whose fields are the kernels that are declared
        assert array.dtype == field.dtype
    for name in (*field.refers, *(field.carries or ())):
        assert name in field.dtype.names
    assert not field.live or field.live in scene.counts.dtype.names


def test_arrays_along_an_axis_are_equally_long(scene):
    """An entity has one place in all of them. Work along a second axis may have spare places."""
    for axis in (Axis.BODY, Axis.POSITION, Axis.DOF, Axis.SHAPE, Axis.CONTACT, Axis.ROW):
        arrays = [(at(scene, p), f.shape) for p, f in FIELDS.items() if axis in f.shape]
        (length,) = {len(array) for array, shape in arrays if shape[0] == axis}
        for array, shape in arrays:
            assert array.shape[shape.index(axis)] >= length, axis


def test_a_snapshot_has_what_lasts():
    """And nothing else: work and results come anew from it."""
    world = everything("semi_implicit")
    arrays = world.snapshot()["arrays"]
    lasting = [path for path, field in FIELDS.items() if field.life is Life.STATE]
    assert len(arrays) == len(lasting)
    assert {"q", "velocity", "collision.contacts", "sensors", "clock"} <= set(lasting)


def test_more_room_keeps_what_there_is(scene):
    roomy = with_room(scene, Axis.CONTACT, 10_000)
    kept = scene.collision.contacts
    assert len(roomy.collision.contacts) == len(roomy.collision.speculative_contacts) == 10_000
    assert (roomy.collision.contacts[: len(kept)] == kept).all()
    assert roomy.q is scene.q


def test_what_is_not_given_is_allocated_as_declared():
    with pytest.raises(KeyError):
        allocate(Scene, {Axis.BODY: 1})
    constrained = allocate(
        type(everything("semi_implicit").scene.constrained),
        {Axis.BODY: 2, Axis.DOF: 3, Axis.CONSTRAINT_BODY: 5, Axis.COLUMN: 7, Axis.BLOCK: 11},
    )
    assert (constrained.of_dof == np.full(3, -1)).all()
    assert replaced(constrained, {"velocity": np.ones(7)}).velocity.sum() == 7.0


def test_what_is_read_eight_numbers_at_a_time_lies_in_one_line_of_the_cache(scene):
    """Arrays of such records begin with a line, and their records fill whole ones."""
    roomy = with_room(scene, Axis.BLOCK, 10_000)
    for array in (roomy.kinematics, roomy.articulated, roomy.constrained.supports):
        assert array.dtype.itemsize % 64 == 0
        assert array.ctypes.data % 64 == 0
        for name in {"S", "v", "c", "I_A", "U", "p_A", "root_inverse", "twist", "sweep"}:
            if name in array.dtype.names:
                assert array.dtype.fields[name][1] % 64 == 0
    assert roomy.constrained.inverse_inertia.ctypes.data % 64 == 0


def test_joints_are_listed_first_and_end_with_their_number(scene):
    """Kernels go over the degrees of freedom of joints alone, and end at none."""
    dofs, joints = scene.forest.dofs, scene.forest.joints
    listed = joints[joints < len(dofs)]
    assert listed.tolist() == np.flatnonzero(dofs["q_index"] >= 0).tolist()
    assert 0 < len(listed) < len(dofs)
    assert (joints[len(listed) :] == len(dofs)).all()
