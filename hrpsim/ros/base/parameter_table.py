# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The node's parameters: one table with type, default, range and meaning of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor


@dataclass(frozen=True)
class Specification:
    """A parameter: its default gives the type; a range applies to numbers."""

    name: str
    default: Any
    description: str
    lowest: float | None = None
    highest: float | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = True

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that `ros2 param describe` shows."""
        descriptor = ParameterDescriptor(description=self.description, read_only=self.read_only)
        if self.choices:
            descriptor.additional_constraints = "one of: " + ", ".join(map(repr, self.choices))
        if self.lowest is not None and isinstance(self.default, float):
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=self.lowest, to_value=self.highest)
            ]
        elif self.lowest is not None:
            descriptor.integer_range = [
                IntegerRange(from_value=self.lowest, to_value=self.highest, step=1)
            ]
        return descriptor

    def problem(self, value: Any) -> str:
        """Return what is wrong with a value of the right type and range, or ""."""
        if not self.choices or value in self.choices:
            return ""
        allowed = "one of: " + ", ".join(map(repr, self.choices))
        return f"parameter {self.name!r} is {value!r}; it must be {allowed}"


def _live(name: str, default: Any, text: str, *bounds: float) -> Specification:
    """Return a parameter that can be set while the program runs."""
    return Specification(name, default, text, *bounds, read_only=False)


def _rate(name: str, default: float, what: str, whole: str = "publish periods") -> Specification:
    text = f"Rate of {what} [Hz, simulated time]; rounded to whole {whole}"
    return _live(name, default, text, 0.1, 10000.0)


def _deviation(name: str, what: str, most: float = 1000.0) -> Specification:
    return _live(name, 0.0, f"Standard deviation of {what}", 0.0, most)


SPECIFICATIONS = (
    Specification(
        "world_file",
        "config/stand.yaml",
        "World description (YAML): a path, or a path inside the package's share folder",
    ),
    Specification(
        "xacro_arguments",
        [""],
        "Arguments for the robot's xacro file, such as 'bush:=true'; they override the world file",
    ),
    Specification("time_step", 0.0, "Length of a step [s]; 0 takes the world file's", 0.0, 0.1),
    Specification(
        "integrator",
        "",
        "Integration scheme; empty takes the world file's",
        choices=("", "semi_implicit", "rk4", "euler"),
    ),
    _live(
        "real_time_factor",
        1.0,
        "Simulated seconds for each second of wall time; 0 runs as fast as possible",
        0.0,
        100.0,
    ),
    _rate("publish_rate", 200.0, "the clock, joint states, wrenches, IMU and odometry", "steps"),
    _rate("tf_rate", 50.0, "the transforms"),
    Specification(
        "odom_frame",
        "odom",
        "Frame in which odom and tf place the robot's base, after frame_prefix",
    ),
    Specification(
        "frame_prefix", "", "Prefix of every frame, odom_frame included, such as 'robot1/'"
    ),
    Specification(
        "publish_odometry",
        True,
        "Publish the true pose of the base as odom and as the transform odom_frame -> base; "
        "off where an estimator provides it",
    ),
    Specification(
        "publish_link_tf",
        True,
        "Publish the transforms between the links; off where robot_state_publisher does it",
    ),
    Specification("start_paused", False, "Wait for ~/resume or ~/step before the first step"),
    _live("step_count", 1, "Number of steps that one call of ~/step makes", 1, 1_000_000),
    _live(
        "state_name",
        "saved",
        "Name under which ~/save_state stores the state and ~/load_state restores it",
    ),
    _live("state_limit", 20, "Maximum number of states stored by ~/save_state", 0, 1000),
    Specification(
        "lockstep",
        False,
        "Wait at each control tick until joint_commands with the tick's stamp arrive",
    ),
    Specification(
        "control_period",
        0.005,
        "In lockstep: simulated time from one control tick to the next [s]; whole steps",
        0.0,
        10.0,
    ),
    Specification(
        "lockstep_timeout",
        1.0,
        "In lockstep: wall time without a command after which the node logs what it waits for, "
        "and ~/step fails [s]",
        0.0,
        1.0e6,
    ),
    Specification(
        "interpolate_commands",
        True,
        "Interpolate position targets linearly: in lockstep over the control period, else over the "
        "interval between commands",
    ),
    Specification(
        "lockstep_policy",
        "pause",
        "In lockstep: reaction after lockstep_timeout: continue to wait, continue without the "
        "command (the last one holds), or end the node with exit code 1",
        choices=("pause", "hold", "abort"),
    ),
    _live(
        "wrench_duration",
        0.1,
        "Simulated time for which a wrench of apply_wrench acts in full [s]",
        0.0,
        1000.0,
    ),
    _live(
        "wrench_ramp",
        0.02,
        "Simulated time in which it then falls linearly to zero [s]",
        0.0,
        1000.0,
    ),
    _deviation(
        "imu_gyro_noise", "the noise of angular velocities, of each sample and axis [rad/s]"
    ),
    _deviation("imu_gyro_bias", "a constant error, drawn once for each axis [rad/s]"),
    _deviation("imu_accel_noise", "the noise of specific forces, of each sample and axis [m/s²]"),
    _deviation("imu_accel_bias", "a constant error, drawn once for each axis [m/s²]"),
    _deviation(
        "wrench_force_noise", "the noise of measured forces, of each sample and axis [N]", 1.0e6
    ),
    _deviation(
        "wrench_torque_noise", "the noise of measured torques, of each sample and axis [Nm]", 1.0e6
    ),
    _live(
        "noise_seed",
        0,
        "Seed of all noise: the same seed gives the same noise at the same step",
        0,
        2**31 - 1,
    ),
    Specification(
        "foot_sensors", ["lfsensor", "rfsensor"], "Force-torque sensors from which zmp is computed"
    ),
    _rate("marker_rate", 20.0, "contact_markers"),
    _rate("contact_rate", 50.0, "contacts"),
    Specification(
        "marker_force_scale", 0.001, "Length of the arrows of contact_markers [m/N]", 1.0e-6, 1.0
    ),
    _live(
        "solver_sweep_limit",
        0,
        "Limit of solver sweeps in a step, with new contacts too; 0 takes the world file's",
        0,
        100_000,
    ),
    _live(
        "solver_tolerance",
        0.0,
        "Tolerance at which the contact solver stops, as World has it; 0 takes the world file's",
        0.0,
        1.0,
    ),
    _live(
        "entity_limit",
        1000,
        "Maximum number of entities in the world; ~/spawn_entity refuses more",
        0,
        1_000_000,
    ),
    _live(
        "spawn_size_limit",
        10_000_000,
        "Largest description that ~/spawn_entity accepts, as text or file [bytes]",
        0,
        1_000_000_000,
    ),
    _live(
        "spawn_link_limit",
        1000,
        "Maximum number of links of a robot that ~/spawn_entity accepts",
        0,
        1_000_000,
    ),
    _live(
        "spawn_xacro",
        False,
        "Whether ~/spawn_entity accepts xacro, whose expressions this process evaluates",
    ),
    _live(
        "spawn_mjcf",
        False,
        "Whether ~/spawn_entity accepts MJCF, which MuJoCo's parser reads in a child process",
    ),
    _live(
        "step_limit",
        1_000_000,
        "Maximum number of steps of one call of ~/step_simulation",
        1,
        1_000_000_000,
    ),
    _live(
        "filter_limit",
        256,
        "Longest filter of names that ~/get_entities accepts [letters]",
        0,
        10_000,
    ),
    Specification(
        "compile_ahead",
        True,
        "Whether a process of low priority compiles kernels that later steps may need",
    ),
    Specification(
        "duration",
        0.0,
        "Simulated time after which the node ends by itself [s]; 0 runs until it is stopped",
        0.0,
        1.0e9,
    ),
    Specification(
        "viewer", False, "Whether to show the world in a browser, on this machine; needs viser"
    ),
    Specification("viewer_port", 8080, "Port of the viewer; 0 takes any free one", 0, 65535),
)


def describe(specifications: Iterable[Specification]) -> str:
    """Return parameters as text for --help: each name with its default and its meaning."""
    lines = (f"  {s.name} ({s.default!r})\n      {s.description}" for s in specifications)
    return "\n".join(["Parameters, with their defaults:\n", *lines])
