# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The actuators of a robot, for which a model is set, and the transmissions to joints.

An actuator *acts* if its model changes the step, for example by a gear's elasticity or a delay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.common.closed import Closed
from hrpsim.common.errors import NamedParts, WorldError, require_name, shown_value
from hrpsim.common.values import number
from hrpsim.engine.actuators.fill import actuator_records, leave_to_actuators, slots_of
from hrpsim.engine.actuators.records import ACTUATOR_STATE, COMMAND
from hrpsim.engine.dynamics.joint_forces import VELOCITIES
from hrpsim.engine.sensors.noise import NoiseLevels, SensorNoise
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.actuator import ACTUATOR_PRESETS, TEMPERATURE, Actuator
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.joint_index import JointIndex
from hrpsim.world.objects.robot_properties import RobotProperties
from hrpsim.world.objects.transmissions import TendonView, TransmissionView

TEMPERATURES = ("winding_temperature", "housing_temperature")


class ActuatorView(Closed):
    """The actuator model of one joint. Quantities refer to the joint side, as in `Actuator`."""

    def __init__(self, robot: RobotActuators, joint: str, v_index: int, q_index: int) -> None:
        self.robot = robot
        self.joint = joint
        self._v_index, self._q_index = v_index, q_index

    def __repr__(self) -> str:
        return f"<actuator of joint {self.joint!r} of {self.robot.name!r}>"

    @property
    def properties(self) -> Actuator:
        """Properties of the actuator."""
        return self.robot.fitted_actuators[self.joint]

    def _state(self) -> np.ndarray:
        """Return the ACTUATOR_STATE (1,).

        An actuator that does not act has no stored state. The result then follows from the joint.
        """
        scene, dof = self.robot.world.scene, self.robot.first_v + self._v_index
        if self.properties.acts:
            index = np.flatnonzero(scene.actuators.units["dof"] == dof)[0]
            return scene.actuators.states[index : index + 1]
        state = np.zeros(1, dtype=ACTUATOR_STATE)
        state["motor_velocity"] = scene.velocity[dof]
        state["torque"] = state["motor_torque"] = scene.control["applied"][dof]
        for field in TEMPERATURES:
            state[field] = self.properties.ambient_temperature
        return state

    def _value(self, field: str) -> float:
        return float(self._state()[field][0])

    @property
    def motor_position(self) -> float:
        """Angle of the motor [rad]. With a rigid gear, this is the angle of the joint."""
        q = self.robot.world.scene.q[self.robot.first_q + self._q_index]
        return float(q) + self._value("deflection")

    @property
    def motor_velocity(self) -> float:
        """Velocity of the motor at the end of the last step [rad/s]."""
        return self._value("motor_velocity")

    @property
    def torque(self) -> float:
        """Torque of the actuator on the joint in the last step [Nm].

        If the gear is rigid, dry friction is not included.
        """
        return self._value("torque")

    @property
    def motor_torque(self) -> float:
        """Torque of the motor in the last step [Nm], before friction and the gear's losses."""
        return self._value("motor_torque")

    @property
    def current(self) -> float:
        """Current in the last step [A]. WorldError without an electrical model."""
        actuator = self.properties
        if actuator.resistance == 0.0:
            raise WorldError(f"{self!r} has no current. Give its motor a resistance")
        rise = self._value("housing_temperature") - actuator.reference_temperature
        constant = actuator.torque_constant * actuator.gear_ratio
        warmed = constant * (1.0 + actuator.torque_constant_coefficient * rise)
        return self._value("motor_torque") / warmed

    @property
    def winding_temperature(self) -> float:
        """Temperature of the winding [degrees Celsius]. Assign a number to set the temperature."""
        return self._value("winding_temperature")

    @winding_temperature.setter
    def winding_temperature(self, value: float) -> None:
        self._set_temperature("winding_temperature", value)

    @property
    def housing_temperature(self) -> float:
        """Temperature of the housing [degrees Celsius]. Assign a number to set the temperature."""
        return self._value("housing_temperature")

    @housing_temperature.setter
    def housing_temperature(self, value: float) -> None:
        self._set_temperature("housing_temperature", value)

    def _set_temperature(self, field: str, value: float) -> None:
        if self.properties.resistance == 0.0:
            raise WorldError(f"{self!r} has no temperature. Give its motor a resistance")
        self._state()[field] = number(field, value, TEMPERATURE)


class RobotActuators(RobotProperties, Entity):
    """The actuators of a Robot. The class uses the robot's `joint_index` and entity."""

    fitted_actuators: dict[str, Actuator]  # by joint
    joint_index: JointIndex
    _initial_motors: dict[str, np.ndarray]  # ACTUATOR_STATE
    _initial_tendons: dict[str, np.ndarray]  # TENDON_DRIVE
    _noises: dict[tuple, SensorNoise]

    @property
    def actuators(self) -> NamedParts[ActuatorView]:
        """Actuators with a model, by joint name."""
        joints = self.joint_index
        return NamedParts(
            "joint with an actuator's model",
            {
                name: ActuatorView(self, name, int(joints.v[k]), int(joints.q[k]))
                for k, name in enumerate(joints.names)
                if name in self.fitted_actuators
            },
        )

    @property
    def acting_actuators(self) -> dict[str, Actuator]:
        """Actuators whose models change the step, by joint.

        The scene's records of the actuators have the same order.
        """
        return {joint: a for joint, a in self.fitted_actuators.items() if a.acts}

    @property
    def transmissions(self) -> NamedParts[TransmissionView]:
        """Transmissions of the description by name."""
        names = self.model.transmissions
        return NamedParts("transmission", {name: TransmissionView(self, name) for name in names})

    @property
    def tendons(self) -> NamedParts[TendonView]:
        """Driven tendons of the description by name."""
        names = self.model.tendons
        views = {name: TendonView(self, name, k) for k, name in enumerate(names)}
        return NamedParts("driven tendon", views)

    def set_actuator(
        self, actuator: Actuator | str | None, names: str | Sequence[str] | None = None
    ) -> None:
        """Set the actuator model of joints. None removes the model.

        The actuator starts at rest relative to the joint, at the ambient temperature. Its
        properties are part of the robot, not of the state. A change of the set of joints with a
        model invalidates earlier snapshots. Gains and commands stay.

        Args:
            actuator: properties, or the name of one of `hrpsim.ACTUATOR_PRESETS`. A preset also
                sets the joints' rotor inertia.
            names: joints. The default is all joints.

        Raises:
            WorldError: the actuator does not fit a joint, the preset is unknown, or the integrator
                is not semi_implicit. Nothing changes then.
            StateError: unknown joint.
        """
        inertia = None
        if isinstance(actuator, str):
            require_name("preset of an actuator", actuator, ACTUATOR_PRESETS)
            actuator, inertia, _ = ACTUATOR_PRESETS[actuator]
        if not isinstance(actuator, Actuator | None):
            raise WorldError(
                f"actuator must be an hrpsim.Actuator, a preset's name or None, got"
                f" {shown_value(actuator)}"
            )
        joints = [self.joint_index.names[k] for k in self.joint_index.indices(names)]
        fitted = {k: v for k, v in self.fitted_actuators.items() if k not in joints}
        if actuator is not None:
            self._check_actuators(dict.fromkeys(joints, actuator))
            if self.world.scene.settings["horizon"][0] == 0.0:
                raise WorldError("actuators with a model need the integrator semi_implicit")
            fitted |= dict.fromkeys(joints, actuator)
        if inertia is not None:
            self.set_joint_properties(names, rotor_inertia=inertia)
        self.fitted_actuators = {k: fitted[k] for k in self.joint_index.names if k in fitted}
        self.world.rebuild_scene()
        self._start_motors(joints)

    def measure(
        self, joints: np.ndarray, positions: np.ndarray, velocities: np.ndarray, efforts: np.ndarray
    ) -> None:
        """Convert true values of joints to readings of encoders and torque sensors.

        Position and velocity belong to the motor if the encoder is at the motor.

        Args:
            joints: indices in `joint_names` (k,).
            positions: (k,) [rad or m], changed in place.
            velocities: (k,) [rad/s or m/s], changed in place.
            efforts: (k,) [Nm or N], changed in place.
        """
        place = {self.joint_index.names[k]: n for n, k in enumerate(joints.tolist())}
        step, states = int(self.world.scene.clock[0]), self.world.scene.actuators.states
        indices = dict(zip(self.acting_actuators, self._motors()[0]))
        for name, actuator in self.fitted_actuators.items():
            if name not in place:
                continue
            k, resolution = place[name], actuator.joint_resolution
            if actuator.encoder == "motor":
                positions[k] += states["deflection"][indices[name]]
                velocities[k] = states["motor_velocity"][indices[name]]
                resolution = actuator.motor_resolution / actuator.gear_ratio
            if actuator.torque_noise > 0.0:
                efforts[k] += self._torque_noise(name, actuator).at(step)[3]
            for values, part in ((positions, resolution), (efforts, actuator.torque_resolution)):
                if part > 0.0:
                    values[k] = part * np.rint(values[k] / part)

    def _torque_noise(self, joint: str, actuator: Actuator) -> SensorNoise:
        world = self.world.noise_world
        key = joint, actuator.noise_seed, actuator.torque_noise, world
        if key not in self._noises:
            levels = NoiseLevels(seed=actuator.noise_seed, torque=actuator.torque_noise)
            self._noises[key] = SensorNoise(
                f"{joint}/torque", "force_torque", levels, robot=self.name, world=world
            )
        return self._noises[key]

    def _check_actuators(self, actuators: dict[str, Actuator]) -> None:
        """Raise WorldError for actuators that do not fit the joints."""
        system, names = self.system, self.joint_index.names
        for joint, actuator in actuators.items():
            k = self.joint_index.v[names.index(joint)]
            slots_of(actuator.delay, self.world.time_step)
            actuator.check_for(
                joint,
                float(system.upper[k] - system.lower[k]),
                float(system.effort_limit[k]),
                float(system.rotor_inertia[k]),
            )

    def _refit_actuators(self, scene: Scene) -> None:
        """Update the actuators after a change of the joints' properties."""
        at, dofs = self._motors()
        units = scene.actuators.units
        fitted = list(zip((dofs - self.first_v).tolist(), self.acting_actuators.values()))
        units[at] = actuator_records(fitted, self.system, self.world.time_step)
        units["dof"][at] = dofs
        leave_to_actuators(units[at], scene.forest.dofs)

    def _motors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the robot's actuators are in the scene.

        Returns:
            (indices of the actuators, degree of freedom of each actuator).
        """
        dofs = self.world.scene.actuators.units["dof"]
        at = np.flatnonzero((dofs >= self.first_v) & (dofs < self.first_v + self.nv))
        return at, dofs[at]

    def keep_actuators(self) -> None:
        """Save the state of the motors for `initialise_actuators`."""
        arrays = self.world.scene.actuators
        self._fill_commands(self._motors()[0])
        self._initial_motors = dict(zip(self.acting_actuators, arrays.states[self._motors()[0]]))
        self._initial_tendons = {k: tendon.record().copy() for k, tendon in self.tendons.items()}

    def initialise_actuators(self) -> None:
        """Restore the saved state of the motors, or the state at rest."""
        for name, tendon in self.tendons.items():
            tendon.hold()
            if name in self._initial_tendons:
                tendon.record()[:] = self._initial_tendons[name]
        self._start_motors(self.joint_index.names)
        at, states = self._motors()[0], self.world.scene.actuators.states
        for index, joint in zip(at, self.acting_actuators):
            if joint in self._initial_motors:
                states[index] = self._initial_motors[joint]

    def _start_motors(self, joints: Sequence[str]) -> None:
        """Reset the motors of joints: at rest relative to the joint, at the ambient temperature."""
        at, dofs = self._motors()
        chosen = self.joint_index.v[self.joint_index.indices(joints)]
        at = at[np.isin(dofs - self.first_v, chosen)]
        arrays = self.world.scene.actuators
        arrays.states[at] = 0
        for field in TEMPERATURES:
            arrays.states[field][at] = arrays.units["ambient"][at]
        moved = self.world.scene.forest.dofs[arrays.units["dof"][at]]
        arrays.states["moved_inertia"][at] = moved["own_inertia"] - moved["rotor_inertia"]
        self._fill_commands(at)
        self._move_motors()

    def refill_commands(self, dofs: np.ndarray) -> None:
        """Store the present commands of degrees of freedom as the commands of all earlier steps."""
        at, own = self._motors()
        self._fill_commands(at[np.isin(own - self.first_v, dofs)])

    def restart_integrals(self, dofs: np.ndarray) -> None:
        """Restart the integrals of commanded velocities at the present positions.

        dofs: degrees of freedom.
        """
        scene, (at, own) = self.world.scene, self._motors()
        chosen = np.isin(own - self.first_v, dofs)
        q = scene.q[scene.forest.dofs["q_index"][own[chosen]]]
        scene.actuators.states["integrated"][at[chosen]] = q

    def _fill_commands(self, at: np.ndarray) -> None:
        """Store the present commands as the commands of all earlier steps."""
        scene = self.world.scene
        arrays, units = scene.actuators, scene.actuators.units[at]
        dofs = units["dof"]
        control, q = scene.control[dofs], scene.q[scene.forest.dofs["q_index"][dofs]]
        integrates = (control["given"] & VELOCITIES != 0) & (control["kp"] == 0.0)
        integrates &= units["velocity_integral_gain"] > 0.0
        stored = np.zeros(len(at), dtype=COMMAND)
        stored["kp"] = np.where(integrates, units["velocity_integral_gain"], control["kp"])
        stored["kd"] = control["kd"]
        stored["target"] = np.where(integrates, q, control["target_position"])
        effort = control["effort"] + control["kd"] * control["target_velocity"]
        stored["constant"] = effort + stored["kp"] * stored["target"]
        arrays.commands[at] = stored[:, None]
        arrays.states["slot"][at] = 0
        arrays.states["slewed"][at] = arrays.states["filtered_target"][at] = stored["target"]
        arrays.states["filtered_effort"][at], arrays.states["integrated"][at] = effort, q
        arrays.states["elapsed"][at] = arrays.units["period"][at]

    def _move_motors(self) -> None:
        """Set the velocities of the motors to the velocities of the joints."""
        if self.fitted_actuators:
            at, dofs = self._motors()
            scene = self.world.scene
            scene.actuators.states["motor_velocity"][at] = scene.velocity[dofs]
