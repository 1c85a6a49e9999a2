# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Properties of an actuator (delay, limits, gear, friction, encoders, heat), and presets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from hrpsim.common.errors import WorldError, require_name, require_names, shown_value
from hrpsim.common.values import ANY, LIMIT, NOT_NEGATIVE, POSITIVE, Range, is_number, number, whole
from hrpsim.model.readers.robot_data import LONGEST_DELAY

CURVE_POINTS = 8  # most points of a torque-speed curve
ENCODERS = ("joint", "motor")
_BOUND = Range(-math.inf, infinite=True)
_DELAY = Range(0.0, LONGEST_DELAY, "s")
_EFFICIENCY = Range(0.0, 1.0, above_low=True)
TEMPERATURE = Range(-273.15, 1e4, "degrees Celsius")
_RESISTANCE = Range(1e-6, 1e12, "K/W")
_RISE = Range(-0.1, 0.1, "1/K")
_BAM = (
    "Duclusaud, Passault, Padois, Ly 2024, Extended friction models for the physics simulation of"
    " servo actuators, arXiv:2410.08650; parameters of model m3 for {} in github.com/Rhoban/bam"
)
_UNITREE = (
    "torque-speed curve, friction and reflected inertia of {} in unitree_actuators.py of"
    " github.com/unitreerobotics/unitree_rl_lab"
)


def _setting(default: Any, bounds: Range | None = None, *, acts: bool = False) -> Any:
    """Declare a property with its bounds. `acts` is true if a nonzero value changes the motion."""
    return field(default=default, metadata={"range": bounds, "acts": acts})


# Properties without effect unless another property is given, and the text of an error.
_OF_MOTOR = "resistance", "{} has no effect without the motor's resistance"
_OF_GEAR = "stiffness", "{} of the gear has no effect without the gear's stiffness"
_OF_INTEGRAL = "velocity_integral_gain", "{} has no effect without a velocity_integral_gain"
_NEEDS = {
    **dict.fromkeys(("voltage", "torque_constant", "winding_heat_capacity"), _OF_MOTOR),
    "current_limit": _OF_MOTOR,
    "integral_limit": ("integral_gain", "{} has no effect without an integral_gain"),
    "velocity_integral_lower": _OF_INTEGRAL,
    "velocity_integral_upper": _OF_INTEGRAL,
    **dict.fromkeys(("damping", "backlash"), _OF_GEAR),
    "encoder": ("stiffness", "an encoder at the motor has no effect without the gear's stiffness"),
    "regeneration_torque": ("curve_velocity", "{} has no effect without a curve"),
}


@dataclass(frozen=True, kw_only=True)
class Actuator:
    """Properties of an actuator beyond gains, rotor inertia and limits.

    The defaults have no effect. Quantities are at the joint, reflected through the gear, unless
    stated otherwise. For a prismatic joint read N for Nm and m for rad. WorldError names an invalid
    property.

    Args:
        delay: delay of commands [s], at most 1. Fractions of a step are possible.
        command_period: time between two samples of the command [s]. 0 samples in every step.
        slew_rate: rate at which the position target moves to the commanded target [rad/s]. 0 moves
            the target at once.
        integral_gain, integral_limit: gain and limit of the integral of the position error [Nm/(rad
            s), Nm]. The error is integrated while kp is not 0.
        velocity_integral_gain: integral gain of a velocity command [Nm/rad]. The gain acts on the
            difference of the integral of the commanded velocity and the position.
        velocity_integral_lower, velocity_integral_upper: bounds of the integral of the commanded
            velocity [rad].
        time_constant: time constant of a low-pass filter of first order for targets and efforts
            [s]. 0 means no filter.
        curve_velocity, curve_torque: torque-speed curve, 2 to 8 points, from velocity 0 on [rad/s,
            Nm]. The curve is linear between points and constant after the last. Torques must
            not rise with the velocity.
        regeneration_torque: limit while the motor brakes [Nm]. None uses the curve's torque at
            rest.
        voltage, resistance, torque_constant, gear_ratio: properties of a DC motor [V, ohm, Nm/A at
            the motor's shaft, 1]. Back EMF limits the torque. A resistance of 0 disables the limit.
        current_limit: limit of the current [A].
        stiffness, damping, backlash: properties of the gear [Nm/rad, Nms/rad, rad in all]. With a
            stiffness the rotor inertia of the joint is behind the gear. A stiffness of 0 means a
            rigid gear without backlash.
        encoder: the side that gains act on, "joint" or "motor".
        coulomb_friction, static_friction, stribeck_velocity: dry friction Fc + (Fs - Fc) exp(-(v /
            vs)^2) [Nm, Nm, rad/s]. static_friction None means coulomb_friction.
        viscous_friction: coefficient of viscous friction [Nms/rad].
        efficiency, backdriving_efficiency: efficiency of the gear while the motor drives, and while
            the load drives. A backdriving_efficiency of 0 makes the gear self-locking.
        joint_resolution, motor_resolution: resolutions of the encoders [rad; at the motor's shaft].
        torque_resolution, torque_noise, noise_seed: properties of the torque sensor [Nm]. The noise
            is white with this standard deviation. The noise is a function of seed, joint and step.
        winding_heat_capacity, winding_thermal_resistance: [J/K, K/W to the housing]. 0 J/K disables
            the thermal model.
        housing_heat_capacity, housing_thermal_resistance: [J/K, K/W to the air].
        ambient_temperature, reference_temperature: temperature of the air, and temperature to which
            the motor constants belong [degrees Celsius].
        resistance_coefficient, torque_constant_coefficient: relative change of the resistance with
            the winding's temperature, and of the torque constant with the housing's [1/K].
        derating_temperature, limit_temperature: temperatures of the winding [degrees Celsius]. The
            current limit decreases from the derating temperature on, and is 0 at the limit
            temperature.
    """

    delay: float = _setting(0.0, _DELAY, acts=True)
    command_period: float = _setting(0.0, _DELAY, acts=True)
    slew_rate: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    integral_gain: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    integral_limit: float = _setting(math.inf, LIMIT)
    velocity_integral_gain: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    velocity_integral_lower: float = _setting(-math.inf, _BOUND)
    velocity_integral_upper: float = _setting(math.inf, _BOUND)
    time_constant: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    curve_velocity: tuple[float, ...] = _setting((), acts=True)
    curve_torque: tuple[float, ...] = _setting(())
    regeneration_torque: float | None = _setting(None, LIMIT)
    voltage: float = _setting(0.0, NOT_NEGATIVE)
    resistance: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    torque_constant: float = _setting(0.0, NOT_NEGATIVE)
    gear_ratio: float = _setting(1.0, POSITIVE)
    current_limit: float = _setting(math.inf, LIMIT)
    stiffness: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    damping: float = _setting(0.0, NOT_NEGATIVE)
    backlash: float = _setting(0.0, NOT_NEGATIVE)
    encoder: str = "joint"
    coulomb_friction: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    static_friction: float | None = _setting(None, NOT_NEGATIVE, acts=True)
    stribeck_velocity: float = _setting(0.01, POSITIVE)
    viscous_friction: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    efficiency: float = _setting(1.0, _EFFICIENCY)
    backdriving_efficiency: float = _setting(1.0, Range(0.0, 1.0))
    joint_resolution: float = _setting(0.0, NOT_NEGATIVE, acts=True)
    motor_resolution: float = _setting(0.0, NOT_NEGATIVE)
    torque_resolution: float = _setting(0.0, NOT_NEGATIVE)
    torque_noise: float = _setting(0.0, NOT_NEGATIVE)
    noise_seed: int = 0
    winding_heat_capacity: float = _setting(0.0, NOT_NEGATIVE)
    winding_thermal_resistance: float = _setting(1.0, _RESISTANCE)
    housing_heat_capacity: float = _setting(1.0, POSITIVE)
    housing_thermal_resistance: float = _setting(1.0, _RESISTANCE)
    ambient_temperature: float = _setting(25.0, TEMPERATURE)
    reference_temperature: float = _setting(25.0, TEMPERATURE)
    resistance_coefficient: float = _setting(0.0, _RISE)
    torque_constant_coefficient: float = _setting(0.0, _RISE)
    derating_temperature: float = _setting(math.inf, LIMIT)
    limit_temperature: float = _setting(math.inf, LIMIT)

    def __post_init__(self) -> None:
        for name, bounds in RANGES.items():
            value = getattr(self, name)
            if value is not None or name not in OPTIONAL:
                object.__setattr__(self, name, number(name, value, bounds))
        require_name("encoder", self.encoder, ENCODERS)
        for name in LISTS:
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        object.__setattr__(self, "noise_seed", whole("noise_seed", self.noise_seed, 0, 2**32 - 1))
        self._check_curve()
        self._check_groups()

    def _check_curve(self) -> None:
        speeds, torques = self.curve_velocity, self.curve_torque
        if len(speeds) != len(torques):
            raise WorldError(
                "curve_velocity and curve_torque must have equally many numbers, got"
                f" {len(speeds)} and {len(torques)}"
            )
        if not speeds:
            return
        if not 2 <= len(speeds) <= CURVE_POINTS:
            raise WorldError(f"a curve needs 2 to {CURVE_POINTS} points, got {len(speeds)}")
        if speeds[0] != 0.0:
            raise WorldError(f"curve_velocity must begin at 0, got {speeds[0]:g}")
        if sorted(set(speeds)) != list(speeds):
            raise WorldError(f"curve_velocity must increase, got {shown_value(speeds)}")
        if sorted(torques, reverse=True) != list(torques) or torques[-1] < 0.0:
            raise WorldError(
                "curve_torque must not be negative, and must not rise with the velocity, got"
                f" {shown_value(torques)}"
            )
        if self.regeneration_torque is not None and self.regeneration_torque < torques[0]:
            raise WorldError(
                f"regeneration_torque must be at least the curve's torque at rest "
                f"({torques[0]:g}), got {self.regeneration_torque:g}"
            )

    def _check_groups(self) -> None:
        """Raise WorldError for properties that contradict or need another property."""
        if self.resistance > 0.0 and not (self.voltage > 0.0 and self.torque_constant > 0.0):
            raise WorldError("a motor with a resistance needs a voltage and a torque_constant > 0")
        for name, (needed, text) in _NEEDS.items():
            absent = _DEFAULTS[name]
            if getattr(self, name) != absent and not getattr(self, needed):
                raise WorldError(text.format(name))
        if not self.velocity_integral_lower < self.velocity_integral_upper:
            raise WorldError(
                "velocity_integral_lower must be below velocity_integral_upper"
                f" ({self.velocity_integral_upper:g}), got {self.velocity_integral_lower:g}"
            )
        if self.static_friction is not None and self.static_friction < self.coulomb_friction:
            raise WorldError(
                f"static_friction must be at least coulomb_friction ({self.coulomb_friction:g}),"
                f" got {self.static_friction:g}"
            )
        self._check_temperatures()

    def _check_temperatures(self) -> None:
        warm, hot = self.derating_temperature, self.limit_temperature
        if warm == math.inf or (self.winding_heat_capacity > 0.0 and warm < hot < math.inf):
            return
        raise WorldError(
            "derating_temperature needs a winding_heat_capacity, and a higher limit_temperature"
        )

    @cached_property
    def acts(self) -> bool:
        """Whether any property changes the motion. Other properties only change sensor readings."""
        lossless = self.efficiency == self.backdriving_efficiency == 1.0
        return not lossless or any(getattr(self, name) for name in _ACTING)

    def check_for(self, joint: str, span: float, effort_limit: float, rotor_inertia: float) -> None:
        """Raise WorldError if the actuator does not fit a joint.

        Args:
            joint: name of the joint, for errors.
            span: range of the joint's positions [rad or m], inf without limits.
            effort_limit: largest effort of the joint [Nm or N].
            rotor_inertia: rotor inertia of the joint [kg m^2 or kg].
        """
        if self.backlash >= span:
            raise WorldError(
                f"backlash of joint {joint!r} must be smaller than the joint's range ({span:g}),"
                f" got {self.backlash:g}"
            )
        if self.curve_torque and self.curve_torque[0] > effort_limit:
            raise WorldError(
                f"the curve of joint {joint!r} has the stall torque {self.curve_torque[0]:g}, above"
                f" the joint's effort limit ({effort_limit:g}). Lower the curve, or raise the limit"
            )
        if self.stiffness > 0.0 and rotor_inertia == 0.0:
            raise WorldError(
                f"joint {joint!r} has no rotor inertia, which the stiffness of a gear needs. Set a"
                " rotor inertia (<rotor> of <hrpsim>, or set_joint_properties)"
            )
        if self.backdriving_efficiency == 0.0 and rotor_inertia == 0.0:
            raise WorldError(
                f"joint {joint!r} has no rotor inertia, which a backdriving_efficiency of 0 needs."
                " Set a rotor inertia (<rotor> of <hrpsim>, or set_joint_properties)"
            )


FIELDS = tuple(entry.name for entry in fields(Actuator))
_DEFAULTS = {entry.name: entry.default for entry in fields(Actuator)}
RANGES: Mapping[str, Range] = {
    entry.name: entry.metadata["range"] for entry in fields(Actuator) if entry.metadata.get("range")
}
LISTS = tuple(entry.name for entry in fields(Actuator) if entry.default == ())
# None stands for the value of another property.
OPTIONAL = tuple(entry.name for entry in fields(Actuator) if entry.default is None)
# Without any of these, and without losses of the gear, a step is that of a plain joint.
_ACTING = tuple(entry.name for entry in fields(Actuator) if entry.metadata.get("acts"))


def actuator_of(given: Mapping[str, Any]) -> Actuator:
    """Return the actuator with the properties of a mapping {name: value}.

    Raises WorldError for an unknown name.
    """
    require_names("property of an actuator", given, FIELDS)
    return Actuator(**given)


def _numbers(name: str, values) -> tuple[float, ...]:
    if not isinstance(values, list | tuple) or not all(is_number(value) for value in values):
        raise WorldError(f"{name} must be a list of numbers, got {shown_value(values)}")
    return tuple(number(f"{name}[{k}]", value, ANY) for k, value in enumerate(values))


class Preset(NamedTuple):
    """A published actuator. The rotor inertia [kg m^2] is reflected to the joint."""

    actuator: Actuator
    rotor_inertia: float
    source: str


def _of_bam(
    name: str, inertia: float, coulomb: float, load: float, viscous: float, motor: Actuator
) -> Preset:
    """Convert a servo with the friction coulomb + load (|motor| + |load|) + viscous v to a preset.

    The friction that is proportional to torque becomes an efficiency of (1 - load) / (1 + load) in
    both directions. Dry and viscous friction act before the gear in hrpsim, and are divided by
    (1 - load). While the motor drives, the result equals the source. While the load drives the
    motor, dry and viscous friction are larger than in the source, by 1 / efficiency.
    """
    efficiency = (1.0 - load) / (1.0 + load)
    actuator = replace(
        motor,
        coulomb_friction=coulomb / (1.0 - load),
        viscous_friction=viscous / (1.0 - load),
        efficiency=efficiency,
        backdriving_efficiency=efficiency,
    )
    return Preset(actuator, inertia, _BAM.format(name))


def _of_unitree(
    name: str,
    inertia: float,
    speeds: tuple[float, float],
    torques: tuple[float, float],
    friction: tuple[float, float],
) -> Preset:
    """Return the preset of a motor with planetary gears.

    Args:
        name: name of the motor in Unitree's spelling.
        inertia: rotor inertia, reflected to the joint [kg m^2].
        speeds: largest speed with full torque, and largest speed without load [rad/s].
        torques: peak torque while driving, and while braking [Nm].
        friction: dry friction and coefficient of viscous friction [Nm, Nms/rad].
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
