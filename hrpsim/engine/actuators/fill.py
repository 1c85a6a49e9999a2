# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert actuator properties (hrpsim.Actuator) to ACTUATOR records, which the kernels read."""

import math
from collections.abc import Sequence

import numpy as np

from hrpsim.common.errors import WorldError
from hrpsim.engine.actuators.records import ACTUATOR
from hrpsim.model.actuator import RANGES, Actuator
from hrpsim.model.system import System

MOST_SLOTS = 100_000  # steps of a delay
_LEAST_SHARE = 1e-3  # of a link's inertia, that the motor of a self-locking gear counts as its own

# Properties that are fields of the record as they are. What differs is filled after these.
_PLAIN = tuple(name for name in RANGES if name in (ACTUATOR.names or ()))


def actuator_records(
    fitted: Sequence[tuple[int, Actuator]], system: System, time_step: float
) -> np.ndarray:
    """Return the ACTUATOR records of all actuators of a world.

    Args:
        fitted: pairs (degree of freedom of `system`, actuator).
        system: system of the world.
        time_step: [s].
    """
    records = np.zeros(len(fitted), dtype=ACTUATOR)
    for record, (dof, actuator) in zip(records, fitted, strict=True):
        record["dof"] = dof
        for name in _PLAIN:
            value = getattr(actuator, name)
            record[name] = 0.0 if value is None else value
        _fill_joint(record, system, dof)
        _fill_drive(record, actuator, time_step)
        _fill_gear(record, actuator, time_step)
        _fill_heat(record, actuator, time_step)
    return records


def leave_to_actuators(units: np.ndarray, dofs: np.ndarray) -> None:
    """Clear the joint limits that actuator models replace.

    An actuator model limits effort and velocity itself, so these limits of the joint become
    infinite. With a rigid gear, dry friction of actuator and joint acts at the joint. The joint's
    friction is set to a non-zero value here, which only marks that friction exists. Each step
    writes the true value.

    Args:
        units: ACTUATOR records.
        dofs: DOF records of the scene (nv,), changed.
    """
    dofs["effort_limit"][units["dof"]] = dofs["velocity_limit"][units["dof"]] = np.inf
    rigid = units[units["two_mass"] == 0]
    dofs["friction"][rigid["dof"]] = rigid["joint_friction"] + rigid["static"] + rigid["has_losses"]


def slots_of(delay: float, time_step: float) -> int:
    """Return the number of past values that must be stored to delay one signal.

    Args:
        delay: delay of the signal [s].
        time_step: [s].

    Raises:
        WorldError: The number of values is too large.
    """
    steps = math.floor(delay / time_step + 1e-9)
    if steps > MOST_SLOTS:
        raise WorldError(
            f"a delay of {delay:g} s is {steps} steps, but at most {MOST_SLOTS} steps are stored. "
            "Use a shorter delay or a larger time_step"
        )
    return steps + 2 if delay > 0.0 else 0


def fill_delay(record: np.void, delay: float, time_step: float) -> None:
    """Write a delay to a record: whole steps (`delay_steps`), fraction (`delay_part`) and `slots`.

    Args:
        record: record of the actuator or sensor, written.
        delay: delay of the commands or readings [s].
        time_step: [s].
    """
    record["slots"] = slots = slots_of(delay, time_step)
    record["delay_steps"] = max(slots - 2, 0)
    record["delay_part"] = max(delay / time_step - record["delay_steps"], 0.0)


def _fill_joint(record, system: System, dof: int) -> None:
    for name in ("effort_limit", "velocity_limit"):
        record[name] = getattr(system, name)[dof]
    record["joint_friction"], record["inertia"] = system.friction[dof], system.rotor_inertia[dof]


def _fill_drive(record, actuator: Actuator, time_step: float) -> None:
    record["period"] = actuator.command_period
    record["slew_step"] = actuator.slew_rate * max(actuator.command_period, time_step)
    fill_delay(record, actuator.delay, time_step)
    if actuator.time_constant > 0.0:
        steps = time_step / actuator.time_constant
        record["decay"], record["lag"] = math.exp(-steps), -math.expm1(-steps) / steps
    points = len(actuator.curve_velocity)
    record["curve_points"] = points
    if points:
        speeds, torques = np.array(actuator.curve_velocity), np.array(actuator.curve_torque)
        slopes = np.diff(torques) / np.diff(speeds)
        record["curve_speed"][:points], record["curve_torque"][:points] = speeds, torques
        record["curve_slope"][: points - 1], record["steepest"] = slopes, -slopes.min()
        if actuator.regeneration_torque is None:
            record["regeneration_torque"] = torques[0]
    record["torque_constant"] = actuator.torque_constant * actuator.gear_ratio
    record["motor_resolution"] = actuator.motor_resolution / actuator.gear_ratio


def _fill_gear(record, actuator: Actuator, time_step: float) -> None:
    record["two_mass"] = actuator.stiffness > 0.0
    record["motor_encoder"] = actuator.encoder == "motor"
    coulomb, static = actuator.coulomb_friction, actuator.static_friction
    record["coulomb"], record["static"] = coulomb, coulomb if static is None else static
    record["stribeck_speed"] = actuator.stribeck_velocity
    record["viscous"] = viscous = actuator.viscous_friction
    e, b = actuator.efficiency, actuator.backdriving_efficiency
    record["has_losses"] = actuator.stiffness == 0.0 and not e == b == 1.0
    record["driving"], record["driven"] = e, 1.0 / b if b > 0.0 else math.inf
    record["least_share"] = max(b, _LEAST_SHARE)
    record["gear_gain"], record["gear_loss"] = 0.5 * (1.0 / e + b), 0.5 * (1.0 / e - b)
    inertia, k, c = record["inertia"], actuator.stiffness, actuator.damping
    resisting = inertia / time_step
    record["resisting"] = resisting + max(0.5 * viscous, viscous - 0.5 * resisting)
    record["half_backlash"] = 0.5 * actuator.backlash
    record["of_middle"], record["of_twist"] = 0.5 * k + c / time_step, 0.5 * k - c / time_step
    record["spring_rate"] = 0.25 * k * time_step
    record["dead_torque"] = record["of_middle"] * record["half_backlash"]
    record["relaxation"] = math.exp(-k * time_step / c) if c > 0.0 else 0.0


def _fill_heat(record, actuator: Actuator, time_step: float) -> None:
    record["has_heat"] = actuator.winding_heat_capacity > 0.0
    for name, source in (
        ("ambient", "ambient_temperature"),
        ("reference", "reference_temperature"),
        ("resistance_rise", "resistance_coefficient"),
        ("torque_constant_rise", "torque_constant_coefficient"),
    ):
        record[name] = getattr(actuator, source)
    inner = 1.0 / actuator.winding_thermal_resistance
    outer = 1.0 / actuator.housing_thermal_resistance
    record["winding_to_housing"], record["housing_to_ambient"] = inner, outer
    if actuator.winding_heat_capacity > 0.0:
        capacities = np.diag([actuator.winding_heat_capacity, actuator.housing_heat_capacity])
        flows = np.array([[inner, -inner], [-inner, inner + outer]])
        rises = np.linalg.inv(capacities / time_step + 0.5 * flows)
        record["winding_rise"], record["mutual_rise"] = rises[0]
        record["housing_rise"] = rises[1, 1]
