# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The layouts of the messages of unitree_go (Go2) and unitree_hg (G1).

Source: the message definitions of unitreerobotics/unitree_ros2.
"""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.bridges.unitree.wire_layout import Layout, WireField


class Messages(NamedTuple):
    """The layouts of the messages of one package."""

    package: str
    command: Layout
    state: Layout


def _imu(temperature: str) -> list[WireField]:
    vectors = [WireField(name, "f4", 3) for name in ("gyroscope", "accelerometer", "rpy")]
    return [WireField("quaternion", "f4", 4), *vectors, WireField("temperature", temperature)]


def _motor_command(reserved: int) -> list[WireField]:
    numbers = [WireField(name, "f4") for name in ("q", "dq", "tau", "kp", "kd")]
    return [WireField("mode", "u1"), *numbers, WireField("reserve", "u4", reserved)]


_MEASURED = [WireField(name, "f4") for name in ("q", "dq", "ddq", "tau_est")]
_HEAD = [
    WireField("head", "u1", 2),
    WireField("level_flag", "u1"),
    WireField("frame_reserve", "u1"),
    WireField("sn", "u4", 2),
    WireField("version", "u4", 2),
    WireField("bandwidth", "u2"),
]
_GO_MOTOR = [
    WireField("mode", "u1"),
    *_MEASURED,
    *(WireField(name, "f4") for name in ("q_raw", "dq_raw", "ddq_raw")),
    WireField("temperature", "i1"),
    WireField("lost", "u4"),
    WireField("reserve", "u4", 2),
]
_GO_BATTERY = [
    *(WireField(name, "u1") for name in ("version_high", "version_low", "status", "soc")),
    WireField("current", "i4"),
    WireField("cycle", "u2"),
    WireField("bq_ntc", "i1", 2),
    WireField("mcu_ntc", "i1", 2),
    WireField("cell_vol", "u2", 15),
]
_HG_MOTOR = [
    WireField("mode", "u1"),
    *_MEASURED,
    WireField("temperature", "i2", 2),
    WireField("vol", "f4"),
    WireField("sensor", "u4", 2),
    WireField("motorstate", "u4"),
    WireField("reserve", "u4", 4),
]

GO = Messages(
    "unitree_go",
    Layout(
        "unitree_go/LowCmd",
        [
            *_HEAD,
            WireField("motor_cmd", _motor_command(3), 20),
            WireField("bms_cmd", [WireField("off", "u1"), WireField("reserve", "u1", 3)]),
            WireField("wireless_remote", "u1", 40),
            WireField("led", "u1", 12),
            WireField("fan", "u1", 2),
            WireField("gpio", "u1"),
            WireField("reserve", "u4"),
            WireField("crc", "u4"),
        ],
    ),
    Layout(
        "unitree_go/LowState",
        [
            *_HEAD,
            WireField("imu_state", _imu("i1")),
            WireField("motor_state", _GO_MOTOR, 20),
            WireField("bms_state", _GO_BATTERY),
            WireField("foot_force", "i2", 4),
            WireField("foot_force_est", "i2", 4),
            WireField("tick", "u4"),
            WireField("wireless_remote", "u1", 40),
            WireField("bit_flag", "u1"),
            WireField("adc_reel", "f4"),
            WireField("temperature_ntc1", "i1"),
            WireField("temperature_ntc2", "i1"),
            WireField("power_v", "f4"),
            WireField("power_a", "f4"),
            WireField("fan_frequency", "u2", 4),
            WireField("reserve", "u4"),
            WireField("crc", "u4"),
        ],
    ),
)

HG = Messages(
    "unitree_hg",
    Layout(
        "unitree_hg/LowCmd",
        [
            WireField("mode_pr", "u1"),
            WireField("mode_machine", "u1"),
            WireField("motor_cmd", _motor_command(1), 35),
            WireField("reserve", "u4", 4),
            WireField("crc", "u4"),
        ],
    ),
    Layout(
        "unitree_hg/LowState",
        [
            WireField("version", "u4", 2),
            WireField("mode_pr", "u1"),
            WireField("mode_machine", "u1"),
            WireField("tick", "u4"),
            WireField("imu_state", _imu("i2")),
            WireField("motor_state", _HG_MOTOR, 35),
            WireField("wireless_remote", "u1", 40),
            WireField("reserve", "u4", 4),
            WireField("crc", "u4"),
        ],
    ),
)

# Published for both robots, without a checksum. The type of unitree_sdk2 has ten points of a path
# at the end, and the type of unitree_ros2 does not. One message cannot fit both.
SPORT_MODE_STATE = Layout(
    "unitree_go/SportModeState",
    [
        WireField("stamp", [WireField("sec", "i4"), WireField("nanosec", "u4")]),
        WireField("error_code", "u4"),
        WireField("imu_state", _imu("i1")),
        WireField("mode", "u1"),
        WireField("progress", "f4"),
        WireField("gait_type", "u1"),
        WireField("foot_raise_height", "f4"),
        WireField("position", "f4", 3),
        WireField("body_height", "f4"),
        WireField("velocity", "f4", 3),
        WireField("yaw_speed", "f4"),
        WireField("range_obstacle", "f4", 4),
        WireField("foot_force", "i2", 4),
        WireField("foot_position_body", "f4", 12),
        WireField("foot_speed_body", "f4", 12),
    ],
)
