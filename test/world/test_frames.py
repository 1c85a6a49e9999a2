# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Frames that stand where they are put, and what is connected to them; mocap bodies of MuJoCo."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

from hrpsim import Box, ModelWarning, StateError, World, WorldError, load_world

BOX = """<body name="b" pos="0.3 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.1" mass="1"
 contype="0" conaffinity="0"/><site name="s" pos="0.1 0 0"/></body>"""
MOCAP = f"""<mujoco><option timestep="0.002"/><worldbody>{BOX}
<body name="m" mocap="true" pos="0.3 0 1" quat="0.9 0.1 0.2 0.3"><geom size="0.05" contype="0"
 conaffinity="0"/><site name="at" pos="0 0 0.1"/></body></worldbody>
<equality>{{}}</equality></mujoco>"""
EQUALITIES = {
    "weld": '<weld body1="m" body2="b"/>',
    "weld turned": '<weld body1="b" body2="m"/>',
    "weld with a pose": '<weld body1="m" body2="b" relpose="0 0 0.2 1 0 0 -0.3"/>',
    "connect": '<connect body1="b" body2="m" anchor="0.1 0 0"/>',
    "weld of sites": '<weld site1="s" site2="at"/>',
}


def leading():
    """Return a world, a frame and a box that is connected to it, turned and beside it."""
    world = World(gravity=(0, 0, 0))
    frame = world.add_frame("hand", (0, 0, 1))
    box = world.add_body(Box((0.1, 0.2, 0.3)), 1.0, (0.5, 0, 1), (0, 0, 0.6, 0.8), name="box")
    world.connect("hand", box, name="grip")
    return world, frame, box


def pose_in(frame, body):
    """Return the position of a body in a frame, and its turn from it as a matrix."""
    placement = frame.placement.inverse()
    x, y, z, w = body.orientation
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return placement.R @ body.position + placement.p, placement.R @ turn


@pytest.mark.timeout(1200)  # kernels may be compiled
def test_what_is_connected_follows_a_frame():
    """Law: the pose in the frame stays, wherever the frame is put and turned."""
    world, frame, box = leading()
    position, turn = pose_in(frame, box)
    frame.position = (0.2, -0.3, 1.4)
    frame.orientation = (0.0, 0.0, 2.0, 2.0)
    world.step(1500)
    now, turned = pose_in(frame, box)
    assert now == pytest.approx(position, abs=1e-5)
    np.testing.assert_allclose(turned, turn, atol=1e-5)
    assert box.position == pytest.approx((0.2, 0.2, 1.4), abs=1e-5)


def test_a_frame_starts_again_with_its_world():
    """Law: reset, snapshots and copies have the frame's pose and what it holds."""
    world, frame, box = leading()
    frame.position = (0, 0, 1.1)
    saved = world.snapshot()
    twin = pickle.loads(pickle.dumps(world))
    world.step(50)
    after = box.q
    frame.position = (1, 1, 1)
    world.step(5)
    world.restore(saved)
    assert frame.position == pytest.approx((0, 0, 1.1))
    world.step(50)
    np.testing.assert_array_equal(box.q, after)
    twin.step(50)
    np.testing.assert_array_equal(twin.bodies["box"].q, after)
    assert twin.frames["hand"].position == pytest.approx((0, 0, 1.1))
    other = copy.deepcopy(twin)
    other.frames["hand"].position = (5, 5, 5)
    assert twin.frames["hand"].position == pytest.approx((0, 0, 1.1))
    world.reset()
    assert frame.position == pytest.approx((0, 0, 1))
    assert world.connections["grip"].error == pytest.approx(0.0, abs=1e-12)
    world.step(20)
    assert box.position == pytest.approx((0.5, 0, 1), abs=1e-9)


def test_mistakes_with_frames_are_named():
    world, frame, _ = leading()
    for name in ("hand", "box", "world", ""):
        with pytest.raises(WorldError, match="already has an entity or a frame with the name"):
            world.add_frame(name)
    with pytest.raises(WorldError, match="already has an entity with the name 'hand'"):
        world.add_body(Box((1, 1, 1)), 1.0, name="hand")
    with pytest.raises(StateError, match="must be a quaternion of length 1"):
        frame.orientation = (0, 0, 0, 0)
    with pytest.raises(WorldError, match="belong to the world"):
        world.connect(frame, None)
    with pytest.raises(WorldError, match="in another world"):
        World().connect(frame, None)
    with pytest.raises(StateError, match="position"):
        frame.position = (0, math.nan, 0)
    with pytest.raises(ValueError, match="read-only"):
        frame.position[0] = 1.0


@pytest.mark.parametrize("name", EQUALITIES)
def test_mocap_bodies_lead_as_in_mujoco(tmp_path, name):
    """Law: at rest what hangs on one is where MuJoCo has it, before and after it was moved."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(MOCAP.format(EQUALITIES[name]))
    native = mujoco.MjModel.from_xml_path(str(path))
    native.opt.gravity[:] = 0.0
    native.dof_damping[:] = 2.0
    data = mujoco.MjData(native)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*not simulated", ModelWarning)
        warnings.filterwarnings("ignore", ".*no link has a <collision>", ModelWarning)
        world = load_world(path)
    world.gravity = (0, 0, 0)
    robot = next(iter(world.robots.values()))
    for place, turn in (((0.3, 0, 1), (0.9, 0.1, 0.2, 0.3)), ((0.5, 0.2, 1.3), (1, 0, 0.3, 0))):
        data.mocap_pos[0], data.mocap_quat[0] = place, turn
        for _ in range(4000):
            mujoco.mj_step(native, data)
        world.frames["m"].position = place
        world.frames["m"].orientation = np.roll(turn, -1)
        for _ in range(30):
            world.step(100)
            robot.v = 0.9 * robot.v
        if name == "connect":  # the anchor alone is held
            anchor, _ = robot.link_pose("s")
            theirs = data.xpos[1] + data.xmat[1].reshape(3, 3) @ (0.1, 0, 0)
            assert anchor == pytest.approx(theirs, abs=1e-4)
        else:
            assert robot.q[:3] == pytest.approx(data.qpos[:3], abs=1e-4)
            assert np.abs(robot.q[3:7] @ np.roll(data.qpos[3:7], -1)) == pytest.approx(
                1.0, abs=1e-6
            )


def test_mocap_pos_of_the_bridge_moves_them():
    """Law: the box is where the script puts the mocap body; a reset puts it back."""
    pytest.importorskip("mujoco")
    from hrpsim.bridges import mujoco as bridge

    model = bridge.MjModel.from_xml_string(MOCAP.format(EQUALITIES["weld"]))
    data = bridge.MjData(model)
    data.mocap_pos[0] = (0.4, 0.1, 1.2)
    bridge.mj_step(model, data, 2000)
    assert data.qpos[:3] == pytest.approx((0.4, 0.1, 1.2), abs=1e-3)
    bridge.mj_resetData(model, data)
    bridge.mj_step(model, data, 2000)
    assert data.qpos[:3] == pytest.approx((0.3, 0.0, 1.0), abs=1e-3)
    data.mocap_quat[0] = 0.0
    with pytest.raises(StateError, match="must be a finite pose"):
        bridge.mj_step(model, data)
