# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Published actuators, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from hrpsim.model.actuator import Actuator


class Preset(NamedTuple):
    """A published actuator; its rotor inertia is reflected through the gear [kg m^2]."""

    actuator: Actuator
    rotor_inertia: float
    source: str


_BAM = (
    "Duclusaud, Passault, Padois, Ly 2024, Extended friction models for the physics simulation of"
    " servo actuators, arXiv:2410.08650; parameters of model m3 for {} in github.com/Rhoban/bam"
)


def _of_bam(
    name: str, inertia: float, coulomb: float, load: float, viscous: float, motor: Actuator
) -> Preset:
    """Return the preset of a servo whose dry friction is coulomb + load (|motor| + |load|).

    That friction per torque is an efficiency of (1 - load) / (1 + load) in both directions.
    """
    efficiency = (1.0 - load) / (1.0 + load)
    actuator = replace(
        motor,
        coulomb_friction=coulomb,
        viscous_friction=viscous,
        efficiency=efficiency,
        backdriving_efficiency=efficiency,
    )
    return Preset(actuator, inertia, _BAM.format(name))


_UNITREE = (
    "torque-speed curve, friction and reflected inertia of {} in unitree_actuators.py of"
    " github.com/unitreerobotics/unitree_rl_lab"
)


def _of_unitree(
    name: str,
    inertia: float,
    speeds: tuple[float, float],
    torques: tuple[float, float],
    friction: tuple[float, float],
) -> Preset:
    """Return the preset of a motor with planetary gears.

    Args:
        name: as Unitree writes it.
        inertia: reflected [kg m^2].
        speeds: up to which it has its full torque, and without load [rad/s].
        torques: peaks, driving and braking [Nm].
        friction: dry and viscous [Nm, Nms/rad].
    """
    driving, braking = torques
    actuator = Actuator(
        curve_velocity=(0.0, *speeds),
        curve_torque=(driving, driving, 0.0),
        regeneration_torque=braking,
        coulomb_friction=friction[0],
        viscous_friction=friction[1],
    )
    return Preset(actuator, inertia, _UNITREE.format(name))


_MX106 = Actuator(voltage=0.9625 * 15.0, resistance=2.6533, torque_constant=2.2042)
_XL320 = Actuator(voltage=7.5, resistance=27.543, torque_constant=1.0408)

ACTUATOR_PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "dynamixel_mx106": _of_bam("mx106", 0.024847, 0.11335, 0.10824, 0.011945, _MX106),
        "dynamixel_xl320": _of_bam("xl320", 0.0014986, 0.02063, 0.21898, 0.0022633, _XL320),
        "erob80_50": _of_bam("erob80_50", 0.32928, 3.4666, 0.062922, 1.2073, Actuator()),
        "erob80_100": _of_bam("erob80_100", 0.98876, 4.8323, 0.14798, 7.3953, Actuator()),
        "unitree_n5020_16": _of_unitree(
            "N5020-16", 0.003609725, (30.86, 40.13), (24.8, 31.9), (0.6, 0.06)
        ),
        "unitree_n7520_14": _of_unitree(
            "N7520-14.3", 0.01017752, (22.63, 35.52), (71.0, 83.3), (1.6, 0.16)
        ),
        "unitree_n7520_22": _of_unitree(
            "N7520-22.5", 0.025101925, (14.5, 22.7), (111.0, 131.0), (2.4, 0.24)
        ),
        "unitree_w4010_25": _of_unitree(
            "W4010-25", 0.00425, (15.3, 24.76), (4.8, 8.6), (0.6, 0.06)
        ),
    }
)
