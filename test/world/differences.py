# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Central differences of `World.step`, by which its derivatives are judged."""

import numpy as np
from scipy.spatial.transform import Rotation

from hrpsim.engine.kinematics.layout import velocity_from_kernel, velocity_to_kernel

FREE = 3


def moved(forest, q, velocity, change):
    """Return q and velocity (kernels' layout) moved by a tangent (2 nv,) of the public layout."""
    q, nv, v = q.copy(), len(velocity), np.empty(len(velocity))
    velocity_from_kernel(forest, q, velocity, v)
    for body in forest.bodies:
        k, j = body["v_index"], body["q_index"]
        if body["joint_type"] == FREE:
            R = Rotation.from_quat(q[j + 3 : j + 7])
            q[j : j + 3] += R.apply(change[k : k + 3])
            q[j + 3 : j + 7] = (R * Rotation.from_rotvec(change[k + 3 : k + 6])).as_quat()
    joints = forest.dofs["q_index"] >= 0
    q[forest.dofs["q_index"][joints]] += change[:nv][joints]
    out = np.empty(nv)
    velocity_to_kernel(forest, q, v + change[nv:], out)
    return q, out


def tangent(forest, q, velocity, q_from, velocity_from):
    """Return the tangent (2 nv,) that leads from one state to another one nearby."""
    nv = len(velocity)
    v, v_from, out = np.empty(nv), np.empty(nv), np.zeros(2 * nv)
    velocity_from_kernel(forest, q, velocity, v)
    velocity_from_kernel(forest, q_from, velocity_from, v_from)
    for body in forest.bodies:
        k, j = body["v_index"], body["q_index"]
        if body["joint_type"] == FREE:
            R = Rotation.from_quat(q_from[j + 3 : j + 7])
            out[k : k + 3] = R.inv().apply(q[j : j + 3] - q_from[j : j + 3])
            turn = R.inv() * Rotation.from_quat(q[j + 3 : j + 7])
            out[k + 3 : k + 6] = turn.as_rotvec()
    joints = np.flatnonzero(forest.dofs["q_index"] >= 0)
    at = forest.dofs["q_index"][joints]
    out[joints] = q[at] - q_from[at]
    out[nv:] = v - v_from
    return out


def outputs(world):
    """Return efforts and readings of all robots, in the order of `World.linearize`."""
    robots = world.robots.values()
    efforts = [robot.joint_efforts for robot in robots]
    return np.concatenate(
        [
            np.zeros(0),
            *efforts,
            *(sensor.reading for robot in robots for sensor in robot.sensors.values()),
        ]
    )


def nothing(world):
    """Return no output."""
    return np.zeros(0)


def differences(world, step, columns=None, read=nothing):
    """Return A (2 nv, columns) by central differences of `World.step`; the world does not change.

    `step` (2 nv,) are their sizes. Everything else that a step remembers stays as it is. The
    derivatives of what `read`(world) returns follow (2 nv + r, columns).
    """
    start = world.snapshot()
    scene = world.scene
    forest, q, velocity = scene.forest, scene.q.copy(), scene.velocity.copy()
    columns = range(2 * len(velocity)) if columns is None else columns
    world.step()
    end = scene.q.copy(), scene.velocity.copy()
    world.restore(start)
    found = np.empty((2 * len(velocity) + len(read(world)), len(columns)))
    for c, k in enumerate(columns):
        ends = []
        for sign in (1.0, -1.0):
            change = np.zeros(2 * len(velocity))
            change[k] = sign * step[k]
            scene.q[:], scene.velocity[:] = moved(forest, q, velocity, change)
            scene.momentum.trees["is_known"] = 0
            world.step()
            change = tangent(forest, scene.q, scene.velocity, *end)
            ends.append(np.concatenate([change, read(world)]))
            world.restore(start)
        found[:, c] = (ends[0] - ends[1]) / (2.0 * step[k])
    return found


def error(found, expected):
    """Return the largest difference of two matrices, by the largest entries of rows and columns."""
    rows = np.abs(expected).max(axis=1, initial=0.0, keepdims=True)
    return float(np.max(np.abs(found - expected) / np.maximum(rows, 1.0)))


def input_differences(world, field, joints, step, read=nothing):
    """Return B (2 nv, joints) by central differences, for a field of actuators or of joints.

    The derivatives of what `read`(world) returns follow (2 nv + r, joints).
    """
    start, scene = world.snapshot(), world.scene
    records = scene.control if field in scene.control.dtype.names else scene.forest.dofs
    world.step()
    end = scene.q.copy(), scene.velocity.copy()
    world.restore(start)
    found = np.empty((2 * len(scene.velocity) + len(read(world)), len(joints)))
    for column, k in enumerate(joints):
        ends = []
        for sign in (1.0, -1.0):
            before = records[field][k].copy()
            records[field][k] += sign * step
            world.step()
            records[field][k] = before
            change = tangent(scene.forest, scene.q, scene.velocity, *end)
            ends.append(np.concatenate([change, read(world)]))
            world.restore(start)
        found[:, column] = (ends[0] - ends[1]) / (2.0 * step)
    return found
