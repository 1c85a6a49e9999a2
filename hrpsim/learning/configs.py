# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Settings of a task: one class for each kind of term, with the names of Isaac Lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from hrpsim.common.errors import StateError, require_name
from hrpsim.common.typed_values import CheckedSettings, Finite, Interval, NotNegative, require_fit
from hrpsim.common.values import Range as Bounds

Term = str | Callable[..., Any]
Range = Interval
Length = Annotated[int, Bounds(0.0, 1e6)]


@dataclass(frozen=True)
class RobotCfg(CheckedSettings):
    """The robot of a task.

    Args:
        name: name of the robot in the world. Not needed if the world file has one robot.
        description: path or text of the robot's description, for a task without a world file.
        position: position of the base in the world (3,) [m]. The default is the position in the
            world file or the description.
        orientation: orientation of the base in the world, quaternion x y z w (4,). The default is
            the orientation in the world file or the description.
        on_floor: whether to move the base vertically until the robot touches the ground.
        joint_pos: default posture {regular expression: position [rad or m]}. Other joints keep the
            posture of the world file or the description.
        stiffness: gains kp of the joints' servos [Nm/rad or N/m], one number or {regular
            expression: value}. The default keeps the gains of world file and description.
        damping: gains kd [Nms/rad or Ns/m], in the same form.
        armature: rotor inertias reflected to the joints [kg m^2 or kg], in the same form.
        effort_limit: bounds of the joints' efforts [Nm or N], in the same form.
        velocity_limit: joint velocities up to which actuators accelerate [rad/s or m/s], in the
            same form.
        soft_joint_pos_limit_factor: factor of the position ranges that terms read. The mechanical
            limits of the joints do not change.
        meshes: use of collision meshes of `description`, as in `load_model`.
        self_collision: whether the links of `description` collide with each other.
    """

    name: str = ""
    description: str | Path = ""
    position: tuple[float, float, float] | None = None
    orientation: tuple[float, float, float, float] | None = None
    on_floor: bool = False
    joint_pos: Mapping[str, Finite] = field(default_factory=dict)
    stiffness: float | Mapping[str, float] | None = None
    damping: float | Mapping[str, float] | None = None
    armature: float | Mapping[str, float] | None = None
    effort_limit: float | Mapping[str, float] | None = None
    velocity_limit: float | Mapping[str, float] | None = None
    soft_joint_pos_limit_factor: float = 1.0
    meshes: str = "hull"
    self_collision: bool = False


@dataclass(frozen=True)
class TerrainCfg(CheckedSettings):
    """Terrain in front of the robot or below the robot.

    Args:
        kind: "stairs", "ramp", "rubble", "boxes", "waves", "stepping_stones" or "rough_ground" as
            in world files, or "plane" for level ground alone.
        params: size of the terrain, as in world files.
        position: position of the terrain's origin (3,) [m].
    """

    kind: str = "plane"
    params: Mapping[str, Any] = field(default_factory=dict)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class UniformNoiseCfg(CheckedSettings):
    """Noise that is added to an observation, uniform from `n_min` to `n_max`."""

    n_min: Finite = -1.0
    n_max: Finite = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fit("UniformNoiseCfg: n_min and n_max", (self.n_min, self.n_max), Range)


@dataclass(frozen=True)
class GaussianNoiseCfg(CheckedSettings):
    """Noise that is added to an observation, normal with `mean` and standard deviation `std`."""

    mean: Finite = 0.0
    std: NotNegative = 1.0


@dataclass(frozen=True)
class ObservationTermCfg(CheckedSettings):
    """A term of an observation. Noise, clip, scale and history are applied in this order.

    Args:
        func: a name in OBSERVATIONS, or a function of a TaskState that returns (count, k).
        params: further arguments of the function.
        noise: noise of the term. Ignored if the group has no corruption.
        clip: bounds of the values.
        scale: factor, one number or (k,).
        history_length: number of the last values in the observation, oldest first. With 0 and 1 the
            observation has only the last value.
    """

    func: Term
    params: Mapping[str, Any] = field(default_factory=dict)
    noise: UniformNoiseCfg | GaussianNoiseCfg | None = None
    clip: Range | None = None
    scale: Finite | tuple[Finite, ...] | None = None
    history_length: Length = 0


@dataclass(frozen=True)
class ObservationGroupCfg(CheckedSettings):
    """Terms that form one observation, such as "policy" or "critic", in order.

    Args:
        terms: terms by name.
        enable_corruption: whether noise is added to the terms.
        history_length: history length of all terms, which replaces the lengths of the terms.
    """

    terms: Mapping[str, ObservationTermCfg]
    enable_corruption: bool = True
    history_length: Length | None = None


@dataclass(frozen=True)
class RewardTermCfg(CheckedSettings):
    """A term of the reward.

    Args:
        func: a name in REWARDS, or a function of a TaskState that returns (count,). A class is
            constructed once with the state, and its `reset` clears the memory of chosen worlds.
        weight: factor of the term.
        params: further arguments of the function, or of the class.
    """

    func: Term
    weight: Finite
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TerminationTermCfg(CheckedSettings):
    """A condition that ends an episode.

    Args:
        func: a name in TERMINATIONS, or a function of a TaskState that returns (count,) bool.
        params: further arguments of the function.
        time_out: whether the term truncates the episode instead of terminating it.
    """

    func: Term
    params: Mapping[str, Any] = field(default_factory=dict)
    time_out: bool = False


@dataclass(frozen=True)
class EventTermCfg(CheckedSettings):
    """A change of the worlds: an initial state, a random parameter or a push.

    Args:
        func: a name in EVENTS, or a function of a TaskState and world indices (m,).
        mode: "startup" acts once after each seed, "reset" at the start of episodes, and "interval"
            during episodes.
        interval_range_s: bounds of the time between two events of the mode "interval" [s].
        params: further arguments of the function.

    Raises:
        StateError: the mode is unknown, or the mode "interval" has no bounds.
    """

    func: Term
    mode: str = "reset"
    interval_range_s: Range | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_name("mode", self.mode, ("startup", "reset", "interval"), StateError)
        if self.mode == "interval" and self.interval_range_s is None:
            raise StateError(
                f"event {self.func!r}: the mode 'interval' needs interval_range_s. Give its bounds"
            )


@dataclass(frozen=True)
class CurriculumTermCfg(CheckedSettings):
    """A change of the task during learning, before episodes start.

    Args:
        func: a name in CURRICULA, or a function of a TaskState and world indices (m,).
        params: further arguments of the function.
    """

    func: Term
    params: Mapping[str, Any] = field(default_factory=dict)
