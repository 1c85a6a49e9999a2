# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Unitree's low-level messages: layout, checksum, order of the motors, law of a command."""

import struct

import numpy as np
import pytest

from hrpsim.bridges.unitree.checksum import checksum, checksum_of_words
from hrpsim.bridges.unitree.low_command import (
    POSITION_STOP,
    VELOCITY_STOP,
    idle_motors,
    read_low_command,
)
from hrpsim.bridges.unitree.low_state import ImuValues, LowStates, MotorReadings, roll_pitch_yaw
from hrpsim.bridges.unitree.messages import GO, HG
from hrpsim.bridges.unitree.motors import motors_of
from hrpsim.common.errors import WorldError

LAYOUTS = {layout.name: layout for one in (GO, HG) for layout in (one.command, one.state)}
# The structures of C by struct's letters, as unitree_sdk2_python (utils/crc.py) packs them.
FORMATS = {
    "unitree_go/LowCmd": "<4B4IH2x" + "B3x5f3I" * 20 + "4B" + "55Bx2I",
    "unitree_go/LowState": "<4B4IH2x13fb3x" + "B3x7fb3x3I" * 20 + "4BiH4b15H8hI41B3xf2b2x2f4h2I",
    "unitree_hg/LowCmd": "<2B2x" + "B3x5fI" * 35 + "5I",
    "unitree_hg/LowState": "<2I2B2xI13fh2x" + "B3x4f2hf7I" * 35 + "40B5I",
}
GO2 = [
    f"{leg}_{part}_joint" for leg in ("FR", "FL", "RR", "RL") for part in ("hip", "thigh", "calf")
]
G1 = [
    *(
        "left_hip_pitch left_hip_roll left_hip_yaw left_knee left_ankle_pitch left_ankle_roll"
    ).split(),
    *("right_hip_pitch right_hip_roll right_hip_yaw right_knee").split(),
    *("right_ankle_pitch right_ankle_roll waist_yaw waist_roll waist_pitch").split(),
    *("left_shoulder_pitch left_shoulder_roll left_shoulder_yaw left_elbow").split(),
    *("left_wrist_roll left_wrist_pitch left_wrist_yaw").split(),
    *("right_shoulder_pitch right_shoulder_roll right_shoulder_yaw right_elbow").split(),
    *("right_wrist_roll right_wrist_pitch right_wrist_yaw").split(),
]
G1 = [f"{name}_joint" for name in G1]


def bit_by_bit(words):
    """Return the checksum by its definition, as crc32_core of unitree_ros2 has it."""
    crc = 0xFFFFFFFF
    for word in words:
        for bit in range(31, -1, -1):
            feedback = 0x04C11DB7 if crc >> 31 else 0
            crc = (crc << 1) & 0xFFFFFFFF ^ feedback ^ (0x04C11DB7 if word >> bit & 1 else 0)
    return crc


def test_the_checksum_is_that_of_the_robot():
    """The numbers are answers of crc32_core in unitree_sdk2_python's compiled library."""
    ascending = np.arange(202, dtype="<u4")
    assert checksum_of_words(np.array([0x31323334, 0x35363738], "<u4").tobytes()) == 0x49E3C2FB
    assert checksum_of_words(ascending.tobytes()) == 0x0E2321DA
    words = np.random.default_rng(1).integers(0, 2**32, 64, dtype=np.uint32)
    assert checksum_of_words(words.astype("<u4").tobytes()) == bit_by_bit(words.tolist())


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_structure_is_that_of_c(name):
    """Law: each number has the offset that struct's standard letters give to it."""
    layout, form = LAYOUTS[name], FORMATS[name]
    record, size = layout.empty(), struct.calcsize(form)
    assert layout.dtype.itemsize == size
    numbers = [k % 100 + 1 for k in range(len(struct.unpack(form, bytes(size))))]
    record = np.frombuffer(struct.pack(form, *numbers), layout.dtype)[0]
    read = layout.read(layout.write(np.array(record)))
    assert struct.unpack(form, read.tobytes()) == tuple(numbers)
    assert read["crc"] == numbers[-1]


def test_a_message_that_does_not_fit_is_refused():
    data = GO.command.write(GO.command.empty())
    with pytest.raises(WorldError, match="unitree_go/LowCmd has 100 bytes instead of 812"):
        GO.command.read(data[:100])
    with pytest.raises(WorldError, match="little-endian CDR"):
        GO.command.read(b"\x00\x00" + data[2:])


def test_the_order_of_the_motors():
    go2 = motors_of("go2", sorted(GO2), "robot")
    assert list(go2.joints) == GO2 and list(go2.slots) == list(range(12))
    g1 = motors_of("g1", [*sorted(G1), "left_hand_thumb_0_joint"], "robot")
    assert list(g1.joints) == G1 and g1.mode_machine == 5
    gone = {13, 14, 20, 21, 27, 28}
    small = motors_of("g1", [name for k, name in enumerate(G1) if k not in gone], "robot")
    assert len(small.joints) == 23 and small.mode_machine == 4
    assert list(small.joints) == [G1[k] for k in small.slots] and not gone & {*small.slots}
    with pytest.raises(WorldError, match="not a go2: joints are missing: FR_hip_joint"):
        motors_of("go2", GO2[1:], "robot")


def command(messages, **fields):
    """Return a LowCmd whose motors have all these numbers, with the right crc."""
    record = messages.command.empty()
    for name, value in {"mode": 1, **fields}.items():
        record["motor_cmd"][name] = value
    return record


def serialised(messages, record):
    record["crc"] = checksum(record)
    return messages.command.write(record)


def test_a_stop_value_and_a_mode_switch_terms_off():
    """Law: tau + kp (q* - q) + kd (dq* - dq); no kp at PosStopF, no kd at VelStopF, 0 in mode 0."""
    motors = motors_of("go2", GO2, "robot")
    record = command(GO, q=0.5, dq=0.25, tau=2.0, kp=20.0, kd=1.5)
    record["motor_cmd"]["q"][1] = POSITION_STOP
    record["motor_cmd"]["dq"][2] = VELOCITY_STOP
    record["motor_cmd"]["mode"][3] = 0
    targets = read_low_command(serialised(GO, record), motors)
    q, dq = np.full(12, 0.1), np.full(12, -0.2)

    def efforts(positions, velocities, efforts, kp, kd):
        return efforts + np.nansum([kp * (positions - q), kd * (velocities - dq)], axis=0)

    both = 2.0 + 20.0 * (0.5 - 0.1) + 1.5 * (0.25 + 0.2)
    expected = np.full(12, both)
    expected[1], expected[2], expected[3] = 2.0 + 1.5 * 0.45, 2.0 + 20.0 * 0.4, 0.0
    assert efforts(*targets) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(targets.positions[[1, 3]]).all() and np.isnan(targets.velocities[[2, 3]]).all()


def test_a_wrong_checksum_or_number_is_refused():
    motors = motors_of("g1", G1, "robot")
    record = command(HG, kp=10.0)
    data = serialised(HG, record)
    record["motor_cmd"]["q"][0] = 1.0
    with pytest.raises(WorldError, match="crc of unitree_hg/LowCmd is wrong"):
        read_low_command(HG.command.write(record), motors)
    assert read_low_command(HG.command.write(record), motors, check=False).positions[0] == 1.0
    assert read_low_command(data, motors).positions[0] == 0.0
    record["motor_cmd"]["kd"][13] = np.nan
    with pytest.raises(
        WorldError, match=r"kd of motor 13 \(waist_roll_joint\) must be finite, got nan"
    ):
        read_low_command(serialised(HG, record), motors)
    record["mode_pr"] = 1
    with pytest.raises(WorldError, match="mode_pr is 1"):
        read_low_command(serialised(HG, record), motors)


def test_a_state_has_the_motors_in_order_and_the_quaternion_w_first():
    motors = motors_of("go2", GO2, "robot")
    values = np.arange(12.0)
    half = np.sqrt(0.5)
    imu = ImuValues(
        np.array([0.0, 0.0, half, half]), np.array([1.0, 2, 3]), np.array([0.0, 0, 9.8])
    )
    readings = MotorReadings(values, 10 + values, 20 + values)
    forces = np.array([30.4, 30.6, 1e9, 0.0])
    record = GO.state.read(LowStates(motors).state(1.234, readings, imu, forces))
    assert record["motor_state"]["q"].tolist() == [*range(12), *[0] * 8]
    assert record["motor_state"]["tau_est"][:12].tolist() == list(range(20, 32))
    assert record["imu_state"]["quaternion"] == pytest.approx([half, 0, 0, half], abs=1e-7)
    assert record["imu_state"]["rpy"] == pytest.approx([0, 0, np.pi / 2], abs=1e-6)
    assert record["imu_state"]["gyroscope"].tolist() == [1, 2, 3]
    assert record["foot_force"].tolist() == [30, 31, 32767, 0] and record["tick"] == 1234
    assert record["crc"] == bit_by_bit(np.frombuffer(record.tobytes(), "<u4")[:-1].tolist())
    assert record["head"].tolist() == [0xFE, 0xEF] and record["level_flag"] == 0xFF


def test_roll_pitch_yaw_are_turns_about_x_then_y_then_z():
    """Law: R = Rz(yaw) Ry(pitch) Rx(roll), by products of quaternions."""

    def product(a, b):
        (ax, ay, az, aw), (bx, by, bz, bw) = a, b
        return np.array(
            [
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
                aw * bw - ax * bx - ay * by - az * bz,
            ]
        )

    def turn(angle, axis):
        return np.append(np.sin(angle / 2) * np.eye(3)[axis], np.cos(angle / 2))

    angles = 0.3, -0.7, 2.5
    whole = product(turn(angles[2], 2), product(turn(angles[1], 1), turn(angles[0], 0)))
    assert roll_pitch_yaw(whole) == pytest.approx(angles, abs=1e-12)


@pytest.mark.parametrize(
    ("motor", "mode", "words"),
    [
        (3, 10, "1 motors have gains or torques but are not enabled: the mode of motor 3 is 10"),
        (3, 0, "Set mode to 1"),
        (12, 1, "the robot has no motor 12: 1 motor commands have no effect"),
        (3, 1, ""),
        (3, 129, ""),
    ],
)
@pytest.mark.parametrize("field", ["kp", "kd", "tau"])
def test_commands_of_motors_that_do_not_act_are_named(motor, mode, words, field):
    """Law: gains and torques need a motor whose lowest bit of `mode` is set."""
    record = GO.command.empty()
    record["motor_cmd"]["mode"][motor], record["motor_cmd"][field][motor] = mode, 1.0
    text = idle_motors(GO.command.write(record), motors_of("go2", GO2, "go2"))
    assert words in text and bool(words) == bool(text)


def test_a_passive_command_is_not_doubtful():
    record = GO.command.empty()
    record["motor_cmd"]["q"] = POSITION_STOP
    assert idle_motors(GO.command.write(record), motors_of("go2", GO2, "go2")) == ""
