# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""PID servos and DC motors of a compiled MJCF."""

from __future__ import annotations

from typing import Any

from hrpsim.model.readers.mjcf.read import MjcfModel

INPUTS = {1: "position", 2: "velocity", 4: "effort"}  # bits of actuator_ctrlspec
_NO_INPUT = 16
KINDS = ("PID", "DCMOTOR")


def servo_of(kind: str, spec: int, gain: Any, bias: Any) -> tuple[tuple[str, ...], float, float]:
    """Return inputs and gains of a PID servo, or of a DC motor with a controller.

    The force is kp (position - length) + kd (velocity - rate) + effort. A missing input is 0. Other
    actuators, and DC motors with a voltage input, have no such inputs.

    Args:
        kind: name of the gain's type in MuJoCo.
        spec: entry of the actuator in MuJoCo's actuator_ctrlspec.
        gain: row of the actuator in actuator_gainprm.
        bias: row of the actuator in actuator_biasprm.

    Returns:
        (names of the inputs, kp, kd).
    """
    if kind not in KINDS:
        return (), 0.0, 0.0
    inputs = tuple(name for bit, name in INPUTS.items() if spec & bit)
    kp, kd = (-bias[1], -bias[2]) if kind == "PID" else (gain[4], gain[6])
    return inputs, float(kp), float(kd)


def _servo_states(m: MjcfModel, k: int) -> tuple[float, float, float]:
    """Return integral gain, integral bound [rad s] and slew rate of a servo. 0 means none."""
    gain, dynamics = m.actuator_gainprm[k], m.actuator_dynprm[k]
    if m.kind("mjtGain", m.actuator_gaintype[k]) == "PID":
        return float(gain[0]), float(dynamics[0]), float(dynamics[1])
    return float(gain[5]), float(dynamics[8]), float(dynamics[7])


def why_not_servo(m: MjcfModel, k: int) -> str:
    """Return the first property of a PID servo or DC motor that hrpsim cannot simulate, or ""."""
    kind, spec = m.kind("mjtGain", m.actuator_gaintype[k]), int(m.actuator_ctrlspec[k])
    gain, bias, dynamics = m.actuator_gainprm[k], m.actuator_biasprm[k], m.actuator_dynprm[k]
    inputs, kp, kd = servo_of(kind, spec, gain, bias)
    integral, _, slew = _servo_states(m, k)
    without = (kp > 0.0 and "position" not in inputs) or (kd > 0.0 and inputs == ("effort",))
    faults = {
        "with gains but without their input": inputs and without,
        "that pushes away from its target": min(kp, kd) < 0.0,
        "an integral or a slew rate without kp": kp == 0.0 and (integral or slew),
    }
    if kind != "PID":
        faults |= {
            "a dcmotor with inductance": dynamics[0],
            "a dcmotor with cogging": bias[0],
            "a dcmotor without input": spec & _NO_INPUT,
            "a dcmotor whose resistance changes with its heat": dynamics[2] * gain[2],
        }
    return next((fault for fault, value in faults.items() if value), "")


def motor_properties(m: MjcfModel, k: int, gear: float) -> dict[str, float]:
    """Return the properties of `hrpsim.Actuator` for a servo or DC motor with a gear ratio.

    LuGre friction becomes dry friction with Stribeck's curve. Both are equal in steady sliding. The
    deflection of the bristles is not simulated.
    """
    kind = m.kind("mjtGain", m.actuator_gaintype[k])
    result: dict[str, float] = {}
    if kind not in KINDS:
        return result
    integral, bound, slew = _servo_states(m, k)
    if integral:
        result["integral_gain"] = integral * gear * gear
        if bound:
            result["integral_limit"] = integral * bound * gear
    if slew:
        result["slew_rate"] = slew / gear
    if kind == "PID":
        return result
    gain, bias, dynamics = m.actuator_gainprm[k], m.actuator_biasprm[k], m.actuator_dynprm[k]
    if gain[7] > 0.0:
        result |= {"voltage": gain[7], "resistance": gain[0], "torque_constant": gain[1]}
        result["gear_ratio"] = gear
    if dynamics[5] > 0.0:
        result |= {"coulomb_friction": bias[3] * gear, "static_friction": bias[4] * gear}
        if bias[5] > 0.0:
            result["stribeck_velocity"] = bias[5] / gear
    return {name: float(value) for name, value in result.items()}
