# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A world: robots, free bodies and a ground that step together in time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.errors import ModelWarning, WorldError
from hrpsim.step.arrays import Scene
from hrpsim.values import RANGES, finite_vector, flag
from hrpsim.world.linearization.step_derivatives import Linearization
from hrpsim.world.linearizing import Linearizing
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.closed import Closed
from hrpsim.world.objects.entity import Entity, _frozen
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import SolverRules
from hrpsim.world.parts.part import Core
from hrpsim.world.parts.pictures import Pictures
from hrpsim.world.parts.population import Population
from hrpsim.world.parts.results import ConvergenceRecord
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep
from hrpsim.world.parts.snapshots import Snapshots, refuse_other_format, saved_format
from hrpsim.world.parts.solver_choice import SolverChoice
from hrpsim.world.parts.stepping import Stepping
from hrpsim.world.parts.surroundings import Surroundings
from hrpsim.world.parts.world_contents import Contents
from hrpsim.world.settings import new_settings
from hrpsim.world.start import RestReport, Settled, relax, warn_of_start


class World(Population, Surroundings, SolverChoice, Snapshots, Pictures, Closed):
    """Robots and bodies that move and touch.

    Its `noise_world` is a part of the key of all sensors' noise: 0, in a `Batch` its index there.

    Args:
        time_step: [s].
        gravity: (3,) [m/s^2].
        integrator: "semi_implicit" (second order: drift, kick in the middle of the step, drift;
            joint springs, dampers and gains taken implicitly), "rk4" (fourth order, contact force
            solved once a step) or "euler".
        accuracy: the residual at which the solver stops, by name: at a step of 1 ms "fast" is
            1e-5 m/s, "standard" 1e-8 m/s (the default), "exact" 1e-10 m/s, and in proportion at
            other steps. It is a tolerance of 1e-3, 1e-6 or 1e-8 with stop "residual".
        tolerance: the same as a number, see `stop`; 1e-6 unless given.
        sweep_limit: largest number of sweeps over the constraints of each island for the motion of
            a step, and as many each for impacts of rk4 and for the correction of penetration. None
            means 120, and up to 1200 in an island with contacts that begin, as long as that is not
            more than 50 000 updates of constraints.
        contact_margin: contact points exist within this distance [m].
        correction_rate: the part of the penetration beyond `slop` that a step corrects.
        correction_speed: the largest speed of that correction [m/s].
        slop: penetration that is not corrected [m].
        slip_threshold: points that slip more slowly [m/s] have static friction, faster ones kinetic
            friction. None means 0.11 g time_step, g being gravity, at most 1e-3.
        restitution_threshold: impacts that are slower [m/s] do not bounce. None means 2 g
            time_step, at most 0.01 except in "rk4", where a ball whose threshold is g time_step or
            less may never come to rest; without gravity it is 0.01.
        impact_law: for an impact that finds several contacts with restitution closed.
            "simultaneous" solves for all of them at once, by Newton's law; "sequential" for the one
            that closes fastest, with those that close as fast, again and again until none closes
            any more.
        friction_model: "cone" bounds friction equally in all directions; "pyramid" bounds it along
            each of two axes, turned at random at every new contact point; "slip_direction" has it
            act against the slip where a point slips faster than `slip_threshold`, and is a pyramid
            elsewhere.
        stop: with "residual" sweeps end when no constraint's velocity changes by more than
            `tolerance` times 9.80665 m/s^2 times the time step in a sweep; with "relative_change"
            when the impulses of all constraints together, as a vector, change by no more than
            `tolerance` of its length (the source papers' rule, 1e-3 there).
        solver: names one solver for everything that it can solve, or is a list of rules, mappings
            with the arguments of `add_solver_rule`.
        position_projection: rigid connections are brought back onto their error 0 after each step.
        continuous: an object that moves by more than a quarter of its thickness in a step passes
            through nothing: it has contacts with all that it would meet.
        sleeping: free bodies that have been at rest for 0.5 s, with all that presses on them or is
            connected to them, are left out of the step until something else presses on them or they
            change. At rest is no faster than a hundred times the speed of `tolerance` with stop
            "residual" (1e-6 m/s; at most 1e-5). Robots, and all that they touch, never sleep.
        audit: measures the energy that steps create: `stats.energy`, a ModelWarning of gains.
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
    ):
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
        """Advance by `n` steps. WorldError if a step cannot be done; the world stays at its start.

        The world is then as if that step had not been requested, except that pushes
        (`apply_wrench`) end with the call. Signals are served between steps: after an exception
        from a handler, such as KeyboardInterrupt, some of the steps are done. Other threads are
        refused meanwhile. KernelsAbsent is handled like an error, but the step can be repeated
        (hrpsim.jit.compiler_beside). A ModelWarning says, once each, which robots and bodies were
        put into the ground or beyond limits since the last step.
        """
        if self._contents.placed:
            self.check_placed(stacklevel=4)
        self._stepping.step(n)

    def linearize(
        self,
        inputs: str | Sequence[str] = "efforts",
        *,
        parameters: str | Sequence[str] = (),
        margin: float | None = 1e-6,
    ) -> Linearization:
        """Return the derivatives of the next step, contacts included; the world does not change.

        Constraints stay on the sides on which the step finds them. The accelerations of the last
        steps, by which a step predicts the velocity in its middle, are taken as given. Equations:
        docs/explanation/linearization.md.

        Args:
            inputs: of all joints, one kind or several: "efforts" [Nm or N], "positions" [rad or m]
                or "velocities" [rad/s or m/s] that actuators are commanded; their gains "kp" and
                "kd", or the "stiffness" and "damping" of the joints.
            parameters: by path, as in studies: "robots.ROBOT.joints.JOINT.kp" (kd, stiffness,
                damping, friction, rotor_inertia, delay), "robots.ROBOT.links.LINK.mass_factor",
                "robots.ROBOT.mass_factor" (gain_factor, friction_factor, damping_factor,
                spring_factor), "friction.MATERIAL-MATERIAL.coefficient" (static, kinetic),
                "bodies.BODY.mass" with its inertia in proportion. Factors multiply what there is:
                they are 1 at present.
            margin: nearer to another side constraints are `on_edge` [m/s or rad/s]; None: none is.

        Returns:
            Matrices A (2 nv, 2 nv), B (2 nv, k) by inputs and C (2 nv, p) by parameters, and what
            they are about.

        Raises:
            WorldError: where the step has something that is not differentiated, by name: impacts
                with restitution, penalty contacts, sleeping bodies, driven tendons, actuators with
                more than delay and friction, other integrators than "semi_implicit"; where the
                step cannot be done.
        """
        return self._linearizing.linearize(inputs, parameters, margin)

    @property
    def differentiable_parameters(self) -> tuple[str, ...]:
        """Paths that `linearize` takes as parameters."""
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
        """Gravity (3,) [m/s^2], read only; assigning gravity acts at once."""
        return _frozen(self._contents.settings["gravity"][0].copy())

    @gravity.setter
    def gravity(self, values) -> None:
        gravity = finite_vector("gravity", values, 3, RANGES["gravity"])
        self.wake()
        self._contents.settings["gravity"][0] = gravity

    # -- contents -------------------------------------------------------------------------------

    @property
    def entities(self) -> dict[str, Entity]:
        """Robots and bodies by name."""
        return self._contents.by_name

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
        """Lay out the arrays again at the next use, keeping the state of what is there."""
        self._scenes.rebuild()

    # -- what sleeps ----------------------------------------------------------------------------

    @property
    def asleep(self) -> tuple[str, ...]:
        """Names of the bodies that sleep."""
        return self._sleep.asleep

    @property
    def sleeping(self) -> bool:
        """Whether bodies at rest may fall asleep; assign False to keep everything awake."""
        return self._sleep.sleeping

    @sleeping.setter
    def sleeping(self, value: bool) -> None:
        self._sleep.sleeping = value

    def sleeps(self, entity: Entity) -> bool:
        """Return whether an entity sleeps."""
        return self._sleep.sleeps(entity)

    def wake(self, *entities: Entity) -> None:
        """Wake these entities with their islands, or, without any, everything that sleeps."""
        self._sleep.wake(*entities)

    # -- interface of its objects (WorldState, hrpsim.world.objects.entity) ---------------------

    @property
    def scene(self) -> Scene:
        """The arrays of the world, made if there are none."""
        return self._scenes.scene

    @property
    def present_scene(self) -> Scene | None:
        """The scene, or None where it must be rebuilt: what was prepared is then obsolete."""
        return self._scenes.present

    @property
    def connection_records(self) -> np.ndarray:
        """Records of the connections, by Connection.index."""
        return self._contents.connection_records

    @property
    def solver_rules(self) -> SolverRules:
        """The rules by which solvers are chosen."""
        return self._contents.solver_rules

    def first_sensor(self, entity: Entity) -> int:
        """Return the index in the scene of an entity's first sensor, if it has any."""
        return self._contents.first_sensor(entity)

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return a robot's or body's configuration, without making arrays for it."""
        return self._scenes.present_q(entity)

    def note_placed(self, entity: Entity) -> None:
        """Note that an entity was put somewhere by hand; `check_placed` looks at it."""
        self._contents.placed.add(entity)

    def check_placed(self, stacklevel: int = 3) -> None:
        """Warn of what was put into the ground or beyond limits since the last step, once each."""
        contents = self._contents
        placed, contents.placed = contents.placed, set()
        warn_of_start(self, placed, contents.reported, stacklevel)

    def forget_contacts(self) -> None:
        """Drop the results of the last step, after a state was set by hand."""
        self._scenes.forget_contacts()

    def add_wrench(self, body: int, point: ArrayLike, force: ArrayLike, torque: ArrayLike) -> None:
        """Apply a wrench to a body of the scene during the next call of `step`.

        Args:
            body: its index in the scene.
            point: where the force acts, in the body's frame (3,) [m].
            force: (3,) [N], in the world.
            torque: (3,) [Nm], in the world.
        """
        self._scenes.add_wrench(body, point, force, torque)

    def contact_records(self) -> np.ndarray:
        """Return the CONTACT records of the last step, and of what sleeps as they were."""
        return self._sleep.contact_records()

    def _complete_scene(self, added: Sequence[Entity] = (), removed: range | None = None) -> None:
        """Complete a new scene with what depends on several parts."""
        if added:
            self._add_standing(added)
        elif removed is not None:
            self._drop_standing(removed)
        else:
            self._find_standing()
        self.refresh_exclusions()
        self._choose_solvers(None if removed is None and not added else added)

    def settle(self, duration: float = 20.0, energy_tolerance: float = 1e-14) -> dict[str, Settled]:
        """Bring everything to rest under its present commands; time does not pass.

        The state of rest becomes the one that `reset` returns to. A ModelWarning says what is wrong
        with the start, a shape inside the ground or a joint beyond its limits, and which robots
        fell.

        Args:
            duration: longest motion [s].
            energy_tolerance: kinetic energy of a swing that counts as rest [J].

        Returns:
            Of each robot and body by name: `moved` [m] and `turned` [rad], of its base; `joint`,
            that moved farthest, by `joint_moved` [rad or m]; `rests_on`, pairs of its link and
            "entity/link"; `lies`, a robot's base being tilted by more than 45 degrees or sunk;
            `fell`, it did not lie before. Its text is one line.

        Raises:
            WorldError: if the duration was not enough; nothing changes then.
        """
        warn_of_start(self, self.entities.values(), set(), stacklevel=3)
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
        found = before.settled(self.link_names)
        for name, one in found.items():
            if one.fell:
                warnings.warn(
                    f"robot {name!r} fell while the world came to rest: {one}; larger gains may "
                    "hold it, or a posture with its centre of mass over its soles",
                    ModelWarning,
                    stacklevel=2,
                )
        return found

    # -- copies ---------------------------------------------------------------------------------

    def copy(self) -> World:
        """Return an independent world in the same state; only what never changes is shared.

        That is robots' models, and what describes links and shapes. `copy.copy` does the same.
        """
        self._contents.refuse_while_stepping()
        return deepcopy(self, {id(one): one for one in self.shared_by_copies()})

    def shared_by_copies(self) -> list[Any]:
        """Return what never changes and is shared by copies."""
        shared: list[Any] = []
        for entity in self.entities.values():
            shared += [*entity.frames, *entity.shapes, *entity._inertias]
        for robot in self.robots.values():
            shared += [robot.model, robot.described]
            shared += [*robot.model.sensors, *robot.model.sampled_sensors]
        return shared

    def __copy__(self) -> World:
        """Return an independent world: two that share arrays would ruin each other."""
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        """Start with the format; leave out machine code, which belongs to this process."""
        return {
            "format": saved_format(),
            **self.__dict__,
            "_reader": None,
            "_casters": {},
            "_prepared": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what another version of hrpsim has saved."""
        refuse_other_format("world", state.get("format"))
        self.__dict__.update(state)
        del self.__dict__["format"]
