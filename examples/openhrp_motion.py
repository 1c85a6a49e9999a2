# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Play a Choreonoid motion on a robot, with gains of hrpsys: the robot nods four times."""

import tempfile
from pathlib import Path

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.bridges import read_body_motion, read_gains
from hrpsim.control import ControlLoop, Playback, controlled_joints

RATE, DURATION, AMPLITUDE = 100, 4.0, 0.2  # [Hz], [s], [rad]

world = hrpsim.load_world(share_path("config/stand.yaml"))
robot = world.robots["hrp2"]
joints = controlled_joints(robot.model)  # a motion's columns are in the order of joint ids
head = joints.index("HEAD_JOINT1")
posture = robot.joint_positions[[robot.joint_names.index(name) for name in joints]]
frames = np.tile(posture, (round(RATE * DURATION) + 1, 1))
phase = 2.0 * np.pi * np.arange(len(frames)) / RATE
frames[:, head] += AMPLITUDE * 0.5 * (1.0 - np.cos(phase))

with tempfile.TemporaryDirectory() as folder:
    motion, gains = Path(folder) / "nod.seq", Path(folder) / "PDgain.dat"
    rows = "".join(f"      - {row}\n" for row in frames.tolist())
    motion.write_text(
        f"type: CompositeSeq\ncontent: BodyMotion\nframeRate: {RATE}\ncomponents:\n  -\n"
        "    type: MultiValueSeq\n    content: JointDisplacement\n    frames:\n" + rows,
        encoding="utf-8",
    )
    gains.write_text("5000 50\n" * len(joints), encoding="utf-8")
    robot.set_gains(*read_gains(gains, robot.model))
    playback = Playback(read_body_motion(motion, robot.model))

angles = []
with ControlLoop(robot, playback) as loop:
    while not playback.finished:
        angles.append(loop.tick().joint_positions[head] - posture[head])
nods = np.count_nonzero(np.diff(np.array(angles) > 0.5 * AMPLITUDE)) // 2
print(f"{nods} nods of {max(angles):.3f} rad")
assert nods == 4 and abs(max(angles) - AMPLITUDE) < 0.01
