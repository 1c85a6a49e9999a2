# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of the node: a table with default, range and meaning, declared and checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcl_interfaces import msg
from rclpy.exceptions import InvalidParameterTypeException, ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from hrpsim.common.errors import HrpsimError, unknown_name
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.limits import PARAMETER_TEXT
from hrpsim.control.estimation.zero_moment_point import FOOT_SENSORS
from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.world.settings import ACCURACIES

_SHOWN = 5  # largest number of listed nodes of a parameter file in a warning


@dataclass(frozen=True)
class Specification:
    """The specification of a parameter. The type is the type of the default."""

    default: Any
    description: str
    lowest: float | None = None
    highest: float | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = True

    def descriptor(self) -> msg.ParameterDescriptor:
        """Return the descriptor that `ros2 param describe` shows."""
        descriptor = msg.ParameterDescriptor(description=self.description, read_only=self.read_only)
        if self.choices:
            descriptor.additional_constraints = self._allowed
        if self.lowest is not None and isinstance(self.default, float):
            descriptor.floating_point_range = [
                msg.FloatingPointRange(from_value=self.lowest, to_value=self.highest)
            ]
        elif self.lowest is not None:
            descriptor.integer_range = [
                msg.IntegerRange(from_value=self.lowest, to_value=self.highest, step=1)
            ]
        return descriptor

    def problem(self, name: str, value: Any) -> str:
        """Return why a value of the right type and range is invalid, or ""."""
        if not self.choices or value in self.choices:
            return ""
        return f"parameter {name!r} is {value!r}. It must be {self._allowed}"

    @property
    def _allowed(self) -> str:
        return "one of: " + ", ".join(map(repr, self.choices))


def _live(default: Any, text: str, *bounds: float) -> Specification:
    """Return the specification of a parameter that can be changed at run time."""
    return Specification(default, text, *bounds, read_only=False)


def _rate(default: float, what: str, whole: str = "publish periods") -> Specification:
    text = f"Rate of {what} [Hz, simulated time]; rounded to whole {whole}"
    return _live(default, text, 0.1, 10000.0)


def _deviation(what: str, most: float = 1000.0) -> Specification:
    return _live(0.0, f"Standard deviation of {what}", 0.0, most)


SPECIFICATIONS = dict(
    world_file=Specification(
        "config/stand.yaml",
        "World description (YAML, MJCF, SDF, USD or .cnoid): a path, or a path inside the "
        "package's share folder",
    ),
    xacro_arguments=Specification(
        [""],
        "Arguments for the robot's xacro file, such as 'bush:=true'; they override the world file",
    ),
    time_step=Specification(0.0, "Length of a step [s]; 0: as in the world file", 0.0, 0.1),
    integrator=Specification(
        "", "Integration scheme; empty: as in the world file", choices=("", *INTEGRATORS)
    ),
    real_time_factor=_live(
        1.0,
        "Simulated seconds for each second of wall time; 0 runs as fast as possible",
        0.0,
        100.0,
    ),
    publish_rate=_rate(200.0, "the clock, joint states, wrenches, IMU and odometry", "steps"),
    tf_rate=_rate(50.0, "the transforms"),
    odom_frame=Specification(
        "odom", "Frame in which odom and tf place the robot's base, after frame_prefix"
    ),
    frame_prefix=Specification("", "Prefix of every frame, odom_frame included, such as 'robot1/'"),
    publish_odometry=Specification(
        True,
        "Publish the true pose of the base as odom and as the transform odom_frame -> base; "
        "false if an estimator publishes it",
    ),
    publish_link_tf=Specification(
        True,
        "Publish the transforms between the links; false if robot_state_publisher publishes them",
    ),
    start_paused=Specification(False, "Wait for ~/resume or ~/step before the first step"),
    step_count=_live(1, "Number of steps that one call of ~/step makes", 1, 1_000_000),
    state_name=_live(
        "saved", "Name under which ~/save_state stores the state and ~/load_state restores it"
    ),
    state_limit=_live(20, "Maximum number of states stored by ~/save_state", 0, 1000),
    lockstep=Specification(
        False, "Wait at each control tick until joint_commands with the tick's stamp arrive"
    ),
    control_period=Specification(
        0.005,
        "In lockstep: simulated time from one control tick to the next [s]; whole steps",
        0.0,
        10.0,
    ),
    lockstep_timeout=Specification(
        1.0,
        "In lockstep: wall time without a command after which the node logs the missing command "
        "and ~/step fails [s]",
        0.0,
        1.0e6,
    ),
    interpolate_commands=Specification(
        True,
        "Interpolate position targets linearly: in lockstep over the control period, else over the "
        "interval between commands",
    ),
    lockstep_policy=Specification(
        "pause",
        "In lockstep: reaction after lockstep_timeout: continue to wait, continue with the last "
        "command, or end the node with exit code 1",
        choices=("pause", "hold", "abort"),
    ),
    unitree=Specification(
        "",
        "Unitree robot with the topics lowcmd and lowstate; empty: no such topics",
        choices=("", "go2", "g1"),
    ),
    unitree_check_crc=Specification(True, "Whether a LowCmd with a wrong crc is rejected"),
    wrench_duration=_live(
        0.1, "Simulated time for which a wrench of apply_wrench acts in full [s]", 0.0, 1000.0
    ),
    wrench_ramp=_live(
        0.02, "Simulated time in which the wrench then falls linearly to zero [s]", 0.0, 1000.0
    ),
    imu_gyro_noise=_deviation("the noise of angular velocities, of each sample and axis [rad/s]"),
    imu_gyro_bias=_deviation("a constant error, drawn once for each axis [rad/s]"),
    imu_accel_noise=_deviation("the noise of specific forces, of each sample and axis [m/s²]"),
    imu_accel_bias=_deviation("a constant error, drawn once for each axis [m/s²]"),
    wrench_force_noise=_deviation(
        "the noise of measured forces, of each sample and axis [N]", 1.0e6
    ),
    wrench_torque_noise=_deviation(
        "the noise of measured torques, of each sample and axis [Nm]", 1.0e6
    ),
    noise_seed=_live(
        0, "Seed of all noise: the same seed gives the same noise at the same step", 0, 2**31 - 1
    ),
    foot_sensors=Specification(
        list(FOOT_SENSORS), "Force-torque sensors from which zmp is computed"
    ),
    trajectory_groups=Specification(
        [""],
        "Groups of joints, by patterns of names; each has an action "
        "GROUP_controller/follow_joint_trajectory. Example: 'left_arm:=LARM_JOINT.*'",
    ),
    marker_rate=_rate(20.0, "contact_markers"),
    contact_rate=_rate(50.0, "contacts"),
    marker_force_scale=Specification(
        0.001, "Length of the arrows of contact_markers [m/N]", 1.0e-6, 1.0
    ),
    solver_sweep_limit=_live(
        0,
        "Limit of solver sweeps in a step, even with new contacts; 0: as in the world file",
        0,
        100_000,
    ),
    solver_tolerance=_live(
        0.0,
        "Tolerance at which the contact solver stops, as in World; 0: as in the world file",
        0.0,
        1.0,
    ),
    solver_accuracy=Specification(
        "",
        "Tolerance by name, as in World; empty: as solver_tolerance, or the world file",
        choices=("", *ACCURACIES),
        read_only=False,
    ),
    entity_limit=_live(
        1000, "Maximum number of entities in the world; ~/spawn_entity refuses more", 0, 1_000_000
    ),
    spawn_size_limit=_live(
        10_000_000,
        "Largest description that ~/spawn_entity accepts, as text or file [bytes]",
        0,
        1_000_000_000,
    ),
    spawn_link_limit=_live(
        1000, "Maximum number of links of a robot that ~/spawn_entity accepts", 0, 1_000_000
    ),
    spawn_xacro=_live(
        False, "Whether ~/spawn_entity accepts xacro, whose expressions this process evaluates"
    ),
    spawn_mjcf=_live(
        False, "Whether ~/spawn_entity accepts MJCF, which MuJoCo's parser reads in a child process"
    ),
    step_limit=_live(
        1_000_000, "Maximum number of steps of one call of ~/step_simulation", 1, 1_000_000_000
    ),
    filter_limit=_live(
        256, "Longest filter of names that ~/get_entities accepts [letters]", 0, 10_000
    ),
    compile_ahead=Specification(
        True, "Whether a process of low priority compiles kernels that later steps may need"
    ),
    duration=Specification(
        0.0, "Simulated time after which the node ends by itself [s]; 0: without end", 0.0, 1.0e9
    ),
    viewer=Specification(
        False, "Whether to show the world in a browser, on this machine; needs viser"
    ),
    viewer_port=Specification(8080, "Port of the viewer; 0 takes any free port", 0, 65535),
)


def describe(specifications: Mapping[str, Specification]) -> str:
    """Return parameters as text for --help: each name with default and meaning."""
    lines = (f"  {k} ({s.default!r})\n      {s.description}" for k, s in specifications.items())
    return "\n".join(["Parameters, with their defaults:\n", *lines])


class ParameterError(HrpsimError, ValueError):
    """An invalid parameter of a program. The message names the parameter."""


def declare(node: Node, specifications: Mapping[str, Specification]) -> dict[str, Any]:
    """Declare parameters and return the values. Raise ParameterError for an invalid value."""
    overrides = getattr(node, "_parameter_overrides", {})  # rclpy has no other way to change them
    overrides.update({name: _as_meant(parameter) for name, parameter in overrides.items()})
    values = {}
    for name, specification in specifications.items():
        default = specification.default
        try:
            values[name] = node.declare_parameter(name, default, specification.descriptor()).value
        except ParameterException as error:
            is_type = isinstance(error, InvalidParameterTypeException)
            hint = ". Write 2.0, not 2" if is_type and isinstance(default, float) else ""
            raise ParameterError(f"{error}{hint}") from error
        if problem := specification.problem(name, values[name]):
            raise ParameterError(problem)
    return values


def _as_meant(parameter: Parameter) -> Parameter:
    """Return the mode "off" in place of false, because YAML and `ros2 param` read off as false."""
    if parameter.value is False and parameter.name.startswith("modes."):
        return Parameter(parameter.name, Parameter.Type.STRING, "off")
    return parameter


def given_to(node: Node) -> list[str]:
    """Return the names of the node's parameters that were set on the command line or in files."""
    return list(getattr(node, "_parameter_overrides", {}))  # rclpy has no other way to ask


def warn_of_foreign_files(node: Node) -> None:
    """Warn of parameter files on the command line without an entry for the node."""
    own = node.get_fully_qualified_name()
    for option, file in zip(sys.argv, sys.argv[1:]):
        names = list(_nodes_of(file)) if option == "--params-file" else []
        if names and not any(_pattern(name).fullmatch(own) for name in names):
            listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
            node.get_logger().warning(
                f"{file}: has no entry for the node {own}, so the file has no effect. Entries: "
                f"{listed}"
            )


def _nodes_of(file: str) -> Iterator[str]:
    """Yield the node names, or patterns, in a parameter file. Yield nothing after an error."""
    try:
        entries = [("", read_yaml(Path(file), HrpsimError).data)]
    except HrpsimError:  # rcl has read the file and reports errors
        return
    while entries:
        path, values = entries.pop(0)
        for key, value in values.items() if isinstance(values, dict) else ():
            if key == "ros__parameters":
                yield path
            else:
                entries.append((f"{path}/{str(key).lstrip('/')}", value))


def _pattern(name: str) -> re.Pattern:
    """Return the pattern of a node name in a file: "/**" matches any names, "/*" one name."""
    parts = {"**": r"(/\w+)*", "*": r"/\w+"}
    return re.compile(
        "".join(parts.get(part, f"/{re.escape(part)}") for part in name[1:].split("/"))
    )


def warn_of_unknown(
    node: Node, declared: Iterable[str], later: Callable[[str], bool] = lambda name: False
) -> None:
    """Warn of parameters that were set but are not declared, unless `later(name)` is true."""
    warn_of_foreign_files(node)
    for name in given_to(node):
        known = node.has_parameter(name) or name.startswith("qos_overrides.") or later(name)
        if not known and name != "use_sim_time":
            node.get_logger().warning(unknown_name("parameter", name, declared))


def refuse_unknown(node: Node) -> None:
    """Raise ParameterError for gains, modes or rates of an unknown joint or sensor.

    Other unknown parameters only cause a warning.
    """
    kinds = {"gains": "joint", "modes": "joint", "rates": "sensor"}
    for name in given_to(node):
        kind, _, part = name.partition(".")
        if kind in kinds and part and "." not in part and not node.has_parameter(name):
            known = list(node.get_parameters_by_prefix(kind))
            raise ParameterError(unknown_name(f"{kinds[kind]} with {kind}", part, known))
    warn_of_unknown(
        node, SPECIFICATIONS, lambda n: n.count(".") > 1 and n.partition(".")[0] in kinds
    )


def value_of(node: Node, name: str) -> Any:
    """Return the present value of parameter `name`."""
    return node.get_parameter(name).value


def named_values(parameter: str, texts: list[str]) -> dict[str, str]:
    """Return {"bush": "true"} for ["bush:=true"]. ParameterError names a text without ':='."""
    values = {}
    for text in filter(None, texts):
        name, separator, value = text.partition(":=")
        if not separator or not name:
            raise ParameterError(f"{parameter}: must be 'name:=value', got {text!r}")
        values[name] = value
    return values


def on_change(
    node: Node, check: Callable[[str, Any], str], react: Callable[[str, Any], None]
) -> None:
    """Call `react(name, value)` after any declared parameter has been set at run time.

    Before, `check(name, value)` is called for values in the declared range. A nonempty result is
    the reason for refusing the whole request.
    """

    def checked(parameters: list[Parameter]) -> msg.SetParametersResult:
        for parameter in parameters:
            name, value = parameter.name, parameter.value
            declared = SPECIFICATIONS.get(name)
            length = len(value) if isinstance(value, str) else 0
            if length > PARAMETER_TEXT:
                problem = (
                    f"{name}: has {length} characters, but at most {PARAMETER_TEXT} are allowed "
                    "(PARAMETER_TEXT)"
                )
            else:
                problem = declared.problem(name, value) if declared else ""
                problem = problem or check(name, value)
            if problem:
                return msg.SetParametersResult(successful=False, reason=problem)
        return msg.SetParametersResult(successful=True)

    def changed(parameters: list[Parameter]) -> None:
        for parameter in parameters:
            react(parameter.name, parameter.value)

    node.add_pre_set_parameters_callback(lambda parameters: list(map(_as_meant, parameters)))
    node.add_on_set_parameters_callback(checked)
    node.add_post_set_parameters_callback(changed)
