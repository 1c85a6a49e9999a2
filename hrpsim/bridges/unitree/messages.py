# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The layouts of the messages of unitree_go (Go2) and unitree_hg (G1).

Source: the message definitions of unitreerobotics/unitree_ros2.
"""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.bridges.unitree.wire_layout import Field, Layout


class Messages(NamedTuple):
    """The layouts of the messages of one package."""

    package: str
    command: Layout
    state: Layout


def _imu(temperature: str) -> list[Field]:
    vectors = [Field(name, "f4", 3) for name in ("gyroscope", "accelerometer", "rpy")]
    return [Field("quaternion", "f4", 4), *vectors, Field("temperature", temperature)]


def _motor_command(reserved: int) -> list[Field]:
    numbers = [Field(name, "f4") for name in ("q", "dq", "tau", "kp", "kd")]
    return [Field("mode", "u1"), *numbers, Field("reserve", "u4", reserved)]


_MEASURED = [Field(name, "f4") for name in ("q", "dq", "ddq", "tau_est")]
_HEAD = [
    Field("head", "u1", 2),
    Field("level_flag", "u1"),
    Field("frame_reserve", "u1"),
    Field("sn", "u4", 2),
    Field("version", "u4", 2),
    Field("bandwidth", "u2"),
]
_GO_MOTOR = [
    Field("mode", "u1"),
    *_MEASURED,
    *(Field(name, "f4") for name in ("q_raw", "dq_raw", "ddq_raw")),
    Field("temperature", "i1"),
    Field("lost", "u4"),
    Field("reserve", "u4", 2),
]
_GO_BATTERY = [
    *(Field(name, "u1") for name in ("version_high", "version_low", "status", "soc")),
    Field("current", "i4"),
    Field("cycle", "u2"),
    Field("bq_ntc", "i1", 2),
    Field("mcu_ntc", "i1", 2),
    Field("cell_vol", "u2", 15),
]
_HG_MOTOR = [
    Field("mode", "u1"),
    *_MEASURED,
    Field("temperature", "i2", 2),
    Field("vol", "f4"),
    Field("sensor", "u4", 2),
    Field("motorstate", "u4"),
    Field("reserve", "u4", 4),
]

GO = Messages(
    "unitree_go",
    Layout(
        "unitree_go/LowCmd",
        [
            *_HEAD,
            Field("motor_cmd", _motor_command(3), 20),
            Field("bms_cmd", [Field("off", "u1"), Field("reserve", "u1", 3)]),
            Field("wireless_remote", "u1", 40),
            Field("led", "u1", 12),
            Field("fan", "u1", 2),
            Field("gpio", "u1"),
            Field("reserve", "u4"),
            Field("crc", "u4"),
        ],
    ),
    Layout(
        "unitree_go/LowState",
        [
            *_HEAD,
            Field("imu_state", _imu("i1")),
            Field("motor_state", _GO_MOTOR, 20),
            Field("bms_state", _GO_BATTERY),
            Field("foot_force", "i2", 4),
            Field("foot_force_est", "i2", 4),
            Field("tick", "u4"),
            Field("wireless_remote", "u1", 40),
            Field("bit_flag", "u1"),
            Field("adc_reel", "f4"),
            Field("temperature_ntc1", "i1"),
            Field("temperature_ntc2", "i1"),
            Field("power_v", "f4"),
            Field("power_a", "f4"),
            Field("fan_frequency", "u2", 4),
            Field("reserve", "u4"),
            Field("crc", "u4"),
        ],
    ),
)

HG = Messages(
    "unitree_hg",
    Layout(
        "unitree_hg/LowCmd",
        [
            Field("mode_pr", "u1"),
            Field("mode_machine", "u1"),
            Field("motor_cmd", _motor_command(1), 35),
            Field("reserve", "u4", 4),
            Field("crc", "u4"),
        ],
    ),
    Layout(
        "unitree_hg/LowState",
        [
            Field("version", "u4", 2),
            Field("mode_pr", "u1"),
            Field("mode_machine", "u1"),
            Field("tick", "u4"),
            Field("imu_state", _imu("i2")),
            Field("motor_state", _HG_MOTOR, 35),
            Field("wireless_remote", "u1", 40),
            Field("reserve", "u4", 4),
            Field("crc", "u4"),
        ],
    ),
)

# Published for both robots, without a checksum. The type of unitree_sdk2 has ten points of a path
# at the end, and the type of unitree_ros2 does not. One message cannot fit both.
SPORT_MODE_STATE = Layout(
    "unitree_go/SportModeState",
    [
        Field("stamp", [Field("sec", "i4"), Field("nanosec", "u4")]),
        Field("error_code", "u4"),
        Field("imu_state", _imu("i1")),
        Field("mode", "u1"),
        Field("progress", "f4"),
        Field("gait_type", "u1"),
        Field("foot_raise_height", "f4"),
        Field("position", "f4", 3),
        Field("body_height", "f4"),
        Field("velocity", "f4", 3),
        Field("yaw_speed", "f4"),
        Field("range_obstacle", "f4", 4),
        Field("foot_force", "i2", 4),
        Field("foot_position_body", "f4", 12),
        Field("foot_speed_body", "f4", 12),
    ],
)
