# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A world: robots, free bodies and a ground that step together in time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelWarning, WorldError, require_name
from hrpsim.common.typed_values import NotNegative, check_arguments
from hrpsim.common.values import flag
from hrpsim.derivatives.step_derivatives import Linearization
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.linearizing import Linearizing
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity, _frozen
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import SolverRules
from hrpsim.world.parts.copies import Copies
from hrpsim.world.parts.part import Core
from hrpsim.world.parts.pictures import Pictures
from hrpsim.world.parts.population import Population
from hrpsim.world.parts.results import ConvergenceRecord
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep
from hrpsim.world.parts.solver_choice import SolverChoice
from hrpsim.world.parts.stepping import Stepping
from hrpsim.world.parts.surroundings import Surroundings
from hrpsim.world.parts.world_contents import Contents, Watcher
from hrpsim.world.settings import checked_gravity, new_settings
from hrpsim.world.start import (
    RestReport,
    Settled,
    lift_to_floor,
    relax,
    warn_of_falls,
    warn_of_start,
)


class World(Population, Surroundings, SolverChoice, Copies, Pictures, Closed):
    """Robots and bodies that move and touch.

    `noise_world`, which is 0 or the index of the world in a `Batch`, is part of the random seed of
    all sensor noise.

    Args:
        time_step: length of a step [s].
        gravity: acceleration of gravity (3,) [m/s^2].
        integrator: "semi_implicit" has second order. Bodies move for half a step, velocities change
            in the middle of the step, and bodies move for another half step. Joint springs, dampers
            and gains are implicit. "rk4" has fourth order, and solves for the contact force once a
            step. "euler" has first order. "mujoco_euler", "mujoco_explicit", "mujoco_implicitfast"
            and "mujoco_rk4" compute the same steps as MuJoCo.
        accuracy: residual at which the solver stops, by name. For a step of 1 ms "fast" is 1e-5
            m/s, "standard" (default) 1e-8 m/s and "exact" 1e-10 m/s, in proportion to the step.
            With stop "residual" the names mean tolerances of 1e-3, 1e-6 and 1e-8.
        tolerance: the accuracy as a number (see `stop`). The default is 1e-6.
        sweep_limit: largest number of sweeps over the constraints of each island for the motion of
            a step. The impacts of rk4, and the correction of penetration, may each use the same
            number. None means 120. In an island in which contacts begin, None means up to 1200
            sweeps within 50 000 updates of constraints.
        contact_margin: largest gap at which contact points exist [m].
        correction_rate: fraction of the penetration beyond `slop` that a step corrects.
        correction_speed: largest speed of the correction [m/s].
        slop: penetration without correction [m].
        slip_threshold: slip speed [m/s] below which points have static friction, and above which
            they have kinetic friction. None means 0.11 g time_step, with gravity g, and at most
            1e-3.
        restitution_threshold: slower impacts [m/s] do not bounce. None means 2 g time_step, at most
            0.01 except in "rk4". In "rk4" a ball with a threshold of g time_step or less may never
            come to rest. Without gravity the threshold is 0.01.
        impact_law: rule for an impact while other contacts with restitution are already closed.
            "simultaneous" solves for all contacts at once, by Newton's law. "sequential" solves for
            the contact that closes fastest, and for all contacts of the same speed. The solution is
            repeated until no contact closes.
        friction_model: "cone" bounds friction equally in all directions. "pyramid" bounds friction
            along each of two axes, turned at random at every new contact point. "slip_direction"
            makes friction act against the slip of points faster than `slip_threshold`, and is a
            pyramid for slower points.
        stop: "residual" ends the sweeps when no constraint's velocity changes in a sweep by more
            than `tolerance` times 9.80665 m/s^2 times the time step. "relative_change" ends the
            sweeps when the vector of all impulses changes by no more than `tolerance` of its
            length. The source papers use "relative_change" with 1e-3.
        solver: name of one solver for everything that the solver can solve, or a list of rules. A
            rule is a mapping with the arguments of `add_solver_rule`.
        position_projection: rigid connections return to error 0 after each step.
        continuous: fast objects do not pass through others. An object that moves by more than a
            quarter of its thickness in a step has contacts with everything in its path.
        sleeping: free bodies at rest for 0.5 s are left out of the step, with everything that
            presses on them or is connected to them. Sleeping bodies return at a new contact or
            change. A body at rest is slower than a hundred times the residual that `tolerance`
            means with stop "residual", and slower than 1e-5 m/s. For the default tolerance at a
            step of 1 ms, this speed is 1e-6 m/s. Robots, and all bodies in contact with robots,
            never sleep.
        audit: measure the energy that steps create in `stats.energy`. Gains of energy cause a
            ModelWarning.
    """

    def __init__(  # many parameters: keyword arguments
        self,
        time_step: float = 1e-3,
        gravity: ArrayLike = (0.0, 0.0, -STANDARD_GRAVITY),
        integrator: str = "semi_implicit",
        *,
        accuracy: str | None = None,
        tolerance: float | None = None,
        sweep_limit: int | None = None,
        contact_margin: float = 2e-3,
        correction_rate: float = 0.2,
        correction_speed: float = 0.1,
        slop: float = 1e-6,
        slip_threshold: float | None = None,
        restitution_threshold: float | None = None,
        impact_law: str = "simultaneous",
        friction_model: str = "cone",
        stop: str = "residual",
        solver: str | Sequence[Mapping[str, Any]] | None = None,
        position_projection: bool = False,
        continuous: bool = True,
        sleeping: bool = True,
        audit: bool = False,
    ) -> None:
        settings = new_settings(locals())
        contents = Contents(settings, integrator, impact_law, solver)
        scenes = Scenes(contents, self._complete_scene)
        sleep = Sleep(contents, scenes, flag("sleeping", sleeping))
        core = Core(contents, scenes, sleep, ConvergenceRecord())
        super().__init__(core)
        self.noise_world = 0
        self._stepping = Stepping(core)
        self._linearizing = Linearizing(core, self._stepping)

    def __repr__(self) -> str:
        names = ", ".join(map(repr, list(self.entities)[:4])) + ", ..." * (len(self.entities) > 4)
        counts = f"{len(self.robots)} robots, {len(self.bodies)} bodies"
        return f"<World at {self.time:g} s: {counts} ({names}), {self.integrator}>"

    # -- time -----------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps.

        If a step fails, a WorldError is raised, and the world stays at the start of the failed
        step. Wrenches of `apply_wrench` always end with the call. KernelsAbsent is handled like an
        error, but the step can be repeated (hrpsim.engine.compile.compiler_beside).

        Signals are handled between steps. After an exception from a handler, such as
        KeyboardInterrupt, only some of the steps are done. Calls from other threads are refused
        during the call.

        A ModelWarning names robots and bodies that were placed inside the ground or beyond limits
        since the last step. It also names materials that have properties but belong to no shape.
        """
        if self._contents.placed or self._contents.materials.named:
            self.check_placed(stacklevel=4)
        self._stepping.step(n)

    def linearize(
        self,
        inputs: str | Sequence[str] = "efforts",
        *,
        parameters: str | Sequence[str] = (),
        outputs: str | Sequence[str] = (),
        margin: NotNegative | None = 1e-6,
    ) -> Linearization:
        """Return the derivatives of the next step, contacts included. The world does not change.

        The state of each constraint in the step, for example stick or slip, is assumed not to
        change. The accelerations of the last steps, from which a step predicts its mid-step
        velocity, are treated as constants. Equations: docs/explanation/linearization.md.

        Args:
            inputs: one or several kinds of inputs, each for all joints: the commands "efforts" [Nm
                or N], "positions" [rad or m] and "velocities" [rad/s or m/s], the gains "kp" and
                "kd" of actuators, the "stiffness" and "damping" of the joints.
            parameters: paths, as in studies: "robots.ROBOT.joints.JOINT.kp" (kd, stiffness,
                damping, friction, rotor_inertia, delay), "robots.ROBOT.links.LINK.mass_factor",
                "robots.ROBOT.mass_factor" (gain_factor, friction_factor, damping_factor,
                spring_factor), "friction.MATERIAL-MATERIAL.coefficient" (static, kinetic),
                "bodies.BODY.mass" with its inertia in proportion. Factors multiply present values,
                so the present value of a factor is 1.
            outputs: "efforts" of all joints [Nm or N], and "sensors": readings of all force sensors
                and IMUs of robots.
            margin: constraints that are closer than this to another state are `on_edge` [m/s or
                rad/s]. None marks no constraint.

        Returns:
            Matrices A (2 nv, 2 nv) for the state, B (2 nv, k) for the inputs and C (2 nv, p) for
            the parameters, with the names of their rows and columns, the constraints on edge, and
            the same matrices for the `outputs`.

        Raises:
            WorldError: the step cannot be done, or contains something that is not differentiated.
                The error names the cause: impacts with restitution, penalty contacts, sleeping
                bodies, driven tendons, actuators with more than delay and friction, or an
                integrator other than "semi_implicit".
        """
        check_arguments(World.linearize, locals(), WorldError)
        return self._linearizing.linearize(inputs, parameters, outputs, margin)

    @property
    def differentiable_parameters(self) -> tuple[str, ...]:
        """Paths of the parameters that `linearize` accepts."""
        return tuple(self._linearizing.parameters())

    @property
    def time_step(self) -> float:
        """Duration of a step [s]."""
        return self._contents.time_step

    @property
    def time(self) -> float:
        """Simulated time since the start or the last reset [s]."""
        return self._steps_done * self.time_step

    @property
    def _steps_done(self) -> int:
        return self._contents.clock.item()

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) [m/s^2], read only. An assigned gravity acts at once."""
        return _frozen(self._contents.settings["gravity"][0].copy())

    @gravity.setter
    def gravity(self, values) -> None:
        gravity = checked_gravity(values, stacklevel=3)
        self.wake()
        self._contents.settings["gravity"][0] = gravity

    # -- contents -------------------------------------------------------------------------------

    @property
    def entities(self) -> dict[str, Entity]:
        """Robots and bodies by name."""
        return self._contents.by_name

    def __getitem__(self, name: str) -> Entity:
        """Return the robot or body called `name`."""
        require_name("robot or body", name, self.entities)
        return self.entities[name]

    __iter__ = None  # a world is not a sequence

    @property
    def robots(self) -> MappingProxyType[str, Robot]:
        """Robots by name."""
        return self._contents.robots

    @property
    def bodies(self) -> MappingProxyType[str, Body]:
        """Free bodies by name."""
        return self._contents.bodies

    @property
    def integrator(self) -> str:
        """Name of the integrator."""
        return self._contents.integrator

    def rebuild_scene(self) -> None:
        """Rebuild the arrays at the next use. The state of present entities does not change."""
        self._scenes.rebuild()

    # -- what sleeps ----------------------------------------------------------------------------

    @property
    def asleep(self) -> tuple[str, ...]:
        """Names of the bodies that sleep."""
        return self._sleep.asleep

    @property
    def sleeping(self) -> bool:
        """Whether bodies at rest may fall asleep. Assign False to keep everything awake."""
        return self._sleep.sleeping

    @sleeping.setter
    def sleeping(self, value: bool) -> None:
        self._sleep.sleeping = flag("sleeping", value)

    def sleeps(self, entity: Entity) -> bool:
        """Return whether an entity sleeps."""
        return self._sleep.sleeps(entity)

    def wake(self, *entities: Entity) -> None:
        """Wake entities and their islands. Without arguments, wake every sleeping entity."""
        self._sleep.wake(*entities)

    # -- interface of its objects (WorldState, hrpsim.world.objects.entity) ---------------------

    @property
    def scene(self) -> Scene:
        """The arrays of the world, which are built if necessary."""
        return self._scenes.scene

    @property
    def present_scene(self) -> Scene | None:
        """The scene, or None if the scene must be rebuilt and earlier preparations are obsolete."""
        return self._scenes.present

    @property
    def connection_records(self) -> np.ndarray:
        """Records of the connections, indexed by Connection.index."""
        return self._contents.connection_records

    @property
    def solver_rules(self) -> SolverRules:
        """The rules by which solvers are chosen."""
        return self._contents.solver_rules

    def first_sensor(self, entity: Entity) -> int:
        """Return the index in the scene of an entity's first sensor, if it has any."""
        return self._contents.first_sensor(entity)

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return the configuration of a robot or body, without making arrays."""
        return self._scenes.present_q(entity)

    def add_watcher(self, watcher: Watcher) -> None:
        """Call `watcher.update` before the steps that `watcher.next_step` returns."""
        self._contents.watchers += (watcher,)
        self._scenes.present = self._scenes.present  # a batch then checks the world again

    def remove_watcher(self, watcher: Watcher) -> None:
        """Stop calling a watcher."""
        others = (other for other in self._contents.watchers if other is not watcher)
        self._contents.watchers = tuple(others)

    def note_placed(self, entity: Entity) -> None:
        """Record that a user has placed an entity. `check_placed` checks such entities."""
        self._contents.placed.add(entity)

    def lift_to_floor(self, entity: Entity) -> float:
        """Return the rise that puts a robot or body on the planes of the world [m]."""
        return lift_to_floor(self, entity)

    def check_placed(self, stacklevel: int = 3) -> None:
        """Warn of entities that were put into the ground or beyond limits since the last step.

        Each entity is named once. Materials without a shape, and patterns
        of solver rules without a match, are named too.
        """
        contents = self._contents
        for text in [
            *self.unknown_materials(contents.materials.named).values(),
            *self._idle_patterns(),
        ]:
            warnings.warn(text, ModelWarning, stacklevel=stacklevel - 1)
        placed, contents.placed = contents.placed, set()
        warn_of_start(self, placed, contents.reported, stacklevel)

    def forget_contacts(self) -> None:
        """Drop the results of the last step, after a state was set by hand."""
        self._scenes.forget_contacts()

    def add_wrench(self, body: int, point: ArrayLike, force: ArrayLike, torque: ArrayLike) -> None:
        """Apply a wrench to a body of the scene during the next call of `step`.

        Args:
            body: index of the body in the scene.
            point: point of the force, in the body's frame (3,) [m].
            force: (3,) [N], in the world.
            torque: (3,) [Nm], in the world.
        """
        self._scenes.add_wrench(body, point, force, torque)

    def contact_records(self) -> np.ndarray:
        """Return the CONTACT records of the last step.

        Sleeping entities keep the last records.
        """
        return self._sleep.contact_records()

    def _complete_scene(
        self,
        added: Sequence[Entity] | None = None,
        fixed: range = range(0),
        removed: range | None = None,
    ) -> None:
        """Complete a new scene with the data that depend on several parts."""
        if added is not None:
            self._add_standing(added, fixed)
        elif removed is not None:
            self._drop_standing(removed)
        else:
            self._find_standing()
        self.refresh_exclusions()
        self._choose_solvers(added if removed is None else ())

    def settle(
        self, duration: NotNegative = 20.0, energy_tolerance: NotNegative = 1e-14
    ) -> dict[str, Settled]:
        """Bring everything to rest under the present commands. Simulated time does not advance.

        Afterwards, `reset` returns to this state of rest. A ModelWarning names shapes that started
        inside the ground, joints that started beyond their limits, and robots that fell.

        Args:
            duration: longest motion [s].
            energy_tolerance: kinetic energy of an oscillation that counts as rest [J].

        Returns:
            A record for each robot and body, by name. `moved` [m] and `turned` [rad] are the
            displacement of the base. `joint` is the joint that moved farthest, by `joint_moved`
            [rad or m]. `rests_on` has pairs of a link of the entity and "entity/link". `lies` means
            that a robot's base is tilted by more than 45 degrees or has sunk. `fell` means that a
            robot lies now and did not lie before. The text of the record is one line.

        Raises:
            WorldError: the duration was not enough. Nothing changes then.
        """
        check_arguments(World.settle, locals(), WorldError)
        warn_of_start(self, self.entities.values(), {}, stacklevel=3)
        self._contents.placed = set()
        before = RestReport(self.entities)
        start, steps, sleeping = self.snapshot(), self._steps_done, self.sleeping
        self.sleeping = False
        try:
            settled = relax(self, int(duration / self.time_step), energy_tolerance)
        finally:
            self.sleeping = sleeping
        if not settled:
            self.restore(start)
            raise WorldError(f"the world did not come to rest within {duration:g} s of motion")
        self._contents.clock[0] = steps
        for sampler in self._contents.samplers:
            sampler.forget()
        self._convergence.restore(start["convergence"])
        self._keep_as_initial()
        result = before.settled(self.link_names)
        warn_of_falls(result, stacklevel=3)
        return result
