"""A world: robots, loose bodies and a ground that step together in time."""

from __future__ import annotations

import sys
import time
import warnings
from types import MappingProxyType

import numpy as np

from hrpsim.constraints.rows import CONE, PYRAMID, SLIP_DIRECTION
from hrpsim.errors import ModelWarning, WorldError, unknown_name
from hrpsim.jit.compiled import is_compiled, machine_code
from hrpsim.jit.reference import Reference
from hrpsim.model.model import Model
from hrpsim.model.shapes.compound import Compound
from hrpsim.model.shapes.geometry import Geometry
from hrpsim.step.scene import status as ended
from hrpsim.step.scene.scene import EULER, RK4, SEMI_IMPLICIT, SETTINGS, Scene
from hrpsim.step.step import advance
from hrpsim.values import RANGES, SWEEPS, finite_vector, flag, setting, whole
from hrpsim.world.arrays.assemble import assemble
from hrpsim.world.arrays.capacity import carry_over, enlarged, grow
from hrpsim.world.arrays.removal import Removing
from hrpsim.world.choosing import Choosing
from hrpsim.world.connecting import Connecting
from hrpsim.world.failure import why_step_failed
from hrpsim.world.keeping import Keeping
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.exclusions import Excluding
from hrpsim.world.objects.explicit_limit import too_stiff_for_rk4
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.spring_hinge import Springing
from hrpsim.world.reading import Reading
from hrpsim.world.results import Naming, StepStats, Unmet, stats_of
from hrpsim.world.sleeping import Sleeping
from hrpsim.world.surroundings import Surroundings
from hrpsim.world.uninterrupted import uninterrupted

INTEGRATORS = {"semi_implicit": SEMI_IMPLICIT, "euler": EULER, "rk4": RK4}
FRICTION_MODELS = {"cone": CONE, "pyramid": PYRAMID, "slip_direction": SLIP_DIRECTION}
STOPPING_RULES = ("residual", "relative_change")
STANDARD_GRAVITY = 9.80665
USUAL_SWEEP_LIMITS = 120, 1200  # the second for islands with contacts that begin
_SKIN = 0.05
_MOST_AT_ONCE = 2**62


class World(
    Surroundings, Connecting, Springing, Excluding, Removing, Sleeping, Keeping, Choosing, Reading
):
    """Robots and bodies that move and touch.

    time_step [s]; gravity (3,) [m/s^2]; integrator "semi_implicit" (second order: drift, kick in
    the middle of the step, drift; joint springs, dampers and gains taken implicitly), "rk4" (fourth
    order, contact force solved once a step) or "euler". The solver finds the motion of a step by at
    most `sweep_limit` sweeps over the constraints of each island, and as many each for impacts of
    rk4 and for the correction of penetration. None, the default, stands for 120, and for up to 1200
    in an island with contacts that begin, as long as that is not more than 50 000 updates of
    constraints. With stop "residual" sweeps end when no constraint's velocity changes by more than
    `tolerance` times 9.80665 m/s^2 times the time step in a sweep; with "relative_change" when the
    impulses of all constraints together, as a vector, change by no more than `tolerance` of its
    length (the source papers' rule, 1e-3 there).
    friction_model "cone" bounds friction alike in all directions; "pyramid" bounds it along each of
    two axes, turned at random at every new contact point; "slip_direction" lets it act against the
    slip only where a point slips faster than `slip_threshold` [m/s], and is a pyramid elsewhere.
    impact_law says what happens where an impact finds several contacts with restitution closed:
    "simultaneous" solves for all of them at once, by Newton's law; "sequential" for the one that
    closes fastest, with those that close as fast, again and again until none closes any more. What
    is slower than restitution_threshold [m/s] does not bounce.
    solver names one solver for everything that it can solve, or is a list of rules, mappings with
    the arguments of `add_solver_rule`. With position_projection, rigid connections are brought
    back onto their error 0 after each step. With continuous, what moves by more than a quarter of
    its thickness in a step passes through nothing: it has contacts with what it would meet.
    With sleeping, loose bodies that have been at rest for 0.5 s, with all that presses on them or
    is connected to them, are left out of the step until something else presses on them or anything
    about them is changed. At rest is what moves no faster than a hundred times the speed that
    `tolerance` stands for with stop "residual" (1e-6 m/s by default; never more than 1e-5). Robots,
    bodies in spring hinges, and what either touch, never sleep.
    """

    def __init__(
        self,
        time_step: float = 1e-3,
        gravity=(0.0, 0.0, -STANDARD_GRAVITY),
        integrator: str = "semi_implicit",
        *,
        tolerance: float = 1e-6,
        sweep_limit: int | None = None,
        contact_margin: float = 2e-3,
        correction_rate: float = 0.2,
        correction_speed: float = 0.1,
        slop: float = 1e-6,
        slip_threshold: float = 1e-3,
        restitution_threshold: float = 0.01,
        impact_law: str = "simultaneous",
        friction_model: str = "cone",
        stop: str = "residual",
        solver=None,
        position_projection: bool = False,
        continuous: bool = True,
        sleeping: bool = True,
    ):
        for what, given, known in (
            ("integrator", integrator, INTEGRATORS),
            ("friction_model", friction_model, FRICTION_MODELS),
            ("stop", stop, STOPPING_RULES),
        ):
            if not isinstance(given, str) or given not in known:
                raise WorldError(unknown_name(what, str(given), known))
        time_step, tolerance = setting("time_step", time_step), setting("tolerance", tolerance)
        if sweep_limit is not None:
            sweep_limit = whole("sweep_limit", sweep_limit, 1, SWEEPS)
        self.integrator = integrator
        self._settings = np.zeros(1, dtype=SETTINGS)
        self._settings[0] = (
            time_step,
            tuple(finite_vector("gravity", gravity, 3, RANGES["gravity"])),
            INTEGRATORS[integrator],
            *((sweep_limit,) * 2 if sweep_limit is not None else USUAL_SWEEP_LIMITS),
            (tolerance if stop == "residual" else 1e-6) * STANDARD_GRAVITY * time_step,
            tolerance if stop == "relative_change" else 0.0,
            setting("contact_margin", contact_margin),
            _SKIN,
            flag("position_projection", position_projection),
            flag("continuous", continuous),
            FRICTION_MODELS[friction_model],
            setting("slip_threshold", slip_threshold),
            setting("restitution_threshold", restitution_threshold),
            setting("correction_rate", correction_rate),
            setting("correction_speed", correction_speed),
            setting("slop", slop),
            0,
        )
        Sleeping.__init__(self, flag("sleeping", sleeping))
        Choosing.__init__(self, solver)
        Surroundings.__init__(self, impact_law)
        Connecting.__init__(self)
        Springing.__init__(self)
        Excluding.__init__(self)
        Reading.__init__(self)
        Keeping.__init__(self)
        self._entities: list[Entity] = []
        self._added = 0  # entities ever
        self._owners: list[tuple[str, str]] = []
        self._scene: Scene | None = None
        self._reference: Reference | None = None  # to the scene that the compiled step had last
        self._run = None  # the step, without a look at what it is given
        self._kept: Scene | None = None  # the scene to go on from
        self._built = 0, 0  # entities and fixed shapes that it has
        self._clock = np.zeros(1, dtype=np.int64)  # steps done; counted by the compiled step
        self._steps_before = 0  # the last call of `step`
        self._stepping = False
        self._was_cut = False  # the last call of `step`, by a signal
        self._unmet_in_call, self._unmet_since_reset = Unmet(), Unmet()

    # -- building ---------------------------------------------------------------------------

    @property
    def time_step(self) -> float:
        """Duration of a step [s]."""
        return float(self._settings["time_step"][0])

    @property
    def time(self) -> float:
        """Simulated time since the start or the last reset [s]."""
        return self._steps_done * self.time_step

    @property
    def _steps_done(self) -> int:
        return int(self._clock[0])

    @_steps_done.setter
    def _steps_done(self, count: int) -> None:
        self._clock[0] = count

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) [m/s^2]; assign to change it."""
        return self._settings["gravity"][0].copy()

    @gravity.setter
    def gravity(self, values) -> None:
        gravity = finite_vector("gravity", values, 3, RANGES["gravity"])
        self.wake()
        self._settings["gravity"][0] = gravity

    @property
    def entities(self) -> dict[str, Entity]:
        """Robots and bodies by name."""
        return {entity.name: entity for entity in self._entities}

    @property
    def robots(self) -> MappingProxyType:
        """Robots by name."""
        return MappingProxyType({e.name: e for e in self._entities if isinstance(e, Robot)})

    @property
    def bodies(self) -> MappingProxyType:
        """Loose bodies by name."""
        return MappingProxyType({e.name: e for e in self._entities if isinstance(e, Body)})

    def add_robot(
        self,
        model: Model,
        q=None,
        name: str | None = None,
        v=None,
        self_collision: bool = False,
    ) -> Robot:
        """Add a robot at configuration q (neutral by default) and velocity v; return it.

        Connections of its description become the world's, called "robot name/connection name".
        With `self_collision` its links collide with each other, but for links that are fixed to
        each other, those that a joint (or joints, where what is between them has no shape)
        connects, and pairs that the model's SRDF or `disable_collisions` keep apart. A
        ModelWarning names a joint whose springs are too stiff for steps of rk4 this long.
        """
        name = self._free_name(name or model.name, name is not None)
        robot = Robot(self, name, model, q, v, self_collision)
        self._add(robot)
        if self.integrator == "rk4" and (note := too_stiff_for_rk4(robot, self.time_step)):
            warnings.warn(note, ModelWarning, stacklevel=2)
        self._connect_described(robot)
        return robot

    def add_body(
        self,
        geometry: Geometry | Compound,
        mass: float,
        position=(0.0, 0.0, 0.0),
        orientation=(0.0, 0.0, 0.0, 1.0),
        velocity=(0.0, 0.0, 0.0),
        angular_velocity=(0.0, 0.0, 0.0),
        material: str = "default",
        name: str | None = None,
        inertia=None,
    ) -> Body:
        """Add a uniform rigid body; SI units, world axes, quaternion x y z w; return it.

        Its frame, which `position` places, has its origin at the centre of mass: a Mesh or
        Compound is moved there, its axes kept. The parts of a Compound have one density.
        `inertia` (3, 3) about the centre, in the body frame, replaces that of the uniform solid.
        ModelError for a mesh that is open, flat or inside out: no solid has that surface.
        """
        name = self._free_name(name or type(geometry).__name__.lower(), name is not None)
        body = Body(
            self,
            name,
            geometry,
            mass,
            position,
            orientation,
            velocity,
            angular_velocity,
            material,
            inertia,
        )
        return self._add(body)

    def _free_name(self, name: str, insist: bool) -> str:
        taken = self.entities
        if name not in taken:
            return name
        if insist:
            raise WorldError(f"the world already has an entity called {name!r}")
        k = 2
        while f"{name}_{k}" in taken:
            k += 1
        return f"{name}_{k}"

    def _add(self, entity):
        self.wake()
        for shape in entity.shapes:
            self._materials.add(shape.material)
        entity.stand_after(self._entities[-1] if self._entities else None)
        self._added += 1
        entity.number = self._added
        self._entities.append(entity)
        self._rebuild()
        return entity

    # -- the arrays ---------------------------------------------------------------------------

    @property
    def scene(self) -> Scene:
        """The arrays that the compiled step works on, made when they are first needed."""
        if self._scene is None:
            self._build()
        return self._scene

    @property
    def present_scene(self) -> Scene | None:
        """The scene, or None where it must be made anew: what was made ready for another is old."""
        return self._scene

    def _rebuild(self) -> None:
        """Make the arrays anew at the next use, keeping the state of what is there."""
        self._refuse_while_stepping()
        self.wake()
        if self._scene is not None:
            self._kept, self._scene = self._scene, None

    def _build(self) -> None:
        self._scene, self._owners = assemble(
            self._settings,
            self._clock,
            self._entities,
            self._fixed,
            self._materials.table(),
            self._materials.index,
            self.joins,
        )
        self._use_spring_hinges(self.spring_hinge_records)
        entities, fixed = self._built
        if self._kept is not None:
            added = len(self._fixed) - fixed
            self._scene = carry_over(self._kept, self._scene, fixed, added)
        self._kept, self._built = None, (len(self._entities), len(self._fixed))
        self._exclude_standing()
        self.refresh_exclusions()
        self._choose_solvers()
        for entity in self._entities[entities:]:
            entity.initialise()

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return a robot's or body's configuration, without making arrays for it."""
        scene = self._scene or self._kept
        if scene is None or entity.first_q + entity.nq > len(scene.q):
            return entity.initial_q.copy()
        return scene.q[entity.first_q : entity.first_q + entity.nq].copy()

    def first_sensor(self, entity: Entity) -> int:
        """Return the place in the scene of an entity's first sensor, if it has any."""
        before = 0
        for other in self._entities:
            if other is entity:
                return before
            if isinstance(other, Robot):
                before += len(other.model.sensors)
        raise WorldError(f"{entity.name!r} is not in this world")

    def forget_contacts(self) -> None:
        """Drop what is kept from the last step, after a state was set by hand."""
        self._refuse_while_stepping()
        scene = self.scene
        scene.collision.previous["forgotten"][: int(scene.tally["previous_count"][0])] = 1
        scene.tally["candidate_count"] = -1
        scene.joint_impulses[:] = 0
        scene.joint_struck[:] = 0.0
        scene.connections["impulse"] = scene.connections["struck"] = 0.0
        scene.spring_hinges["impulse"] = 0.0

    def push(self, body: int, point, force, torque) -> None:
        """Apply a wrench to a body of the scene during the next call of `step`."""
        k = int(self.scene.tally["wrench_count"][0])
        if k == len(self.scene.wrenches):
            self._scene = self._scene._replace(wrenches=enlarged(self._scene.wrenches, 2 * k))
        self.scene.wrenches[k] = (body, tuple(point), tuple(force), tuple(torque))
        self.scene.tally["wrench_count"] = k + 1

    # -- time ---------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps. WorldError if a step cannot be done; its start is then kept.

        Everything is then as if that step had not been asked for, but that pushes (`apply_wrench`)
        end with the call. Signals are served between steps: an exception that a handler raises,
        KeyboardInterrupt say, leaves a world some of whose steps are done, at that time. Other
        threads are refused meanwhile.
        """
        if not (type(n) is int and n >= 0):
            n = _whole_number(n)
        self._refuse_while_stepping()
        announced = _announce_compilation()
        before = self._steps_before, self._unmet_in_call
        self._stepping = True
        try:
            if self._scene is None:
                self._build()
            self._steps_before = self._clock[0]
            if self._unmet_in_call.count:
                self._unmet_in_call = Unmet()
            if self._was_cut:
                self._finish_what_was_cut()
            self._advance(n)
        except WorldError:
            if self._clock[0] == self._steps_before:
                self._steps_before, self._unmet_in_call = before
            raise
        except BaseException:
            self._was_cut = True
            raise
        finally:
            self._stepping = False
            if self._scene is not None:
                self._scene.tally["wrench_count"] = 0
            if announced is not None:
                took = time.perf_counter() - announced
                print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)

    def _advance(self, left: int) -> None:
        """Do so many steps."""
        while left > 0:
            scene = self._scene
            if self._island_of:
                if self.nothing_moves:
                    self._steps_done += left
                    break
                scene = self._awake()
            if self._reference is None or scene is not self._reference.whole:
                self._refer_to(scene)
            if self._run is None:
                done, status, unmet = advance(self._reference, min(left, _MOST_AT_ONCE))
                self._run = machine_code(advance)
            else:
                done, status, unmet = self._run(self._reference, min(left, _MOST_AT_ONCE))
            left -= done
            if unmet:
                self._note_unmet(unmet)
            if status != ended.DONE:
                self._heed(status)

    def _finish_what_was_cut(self) -> None:
        """Do what the last step asked for, if a signal came between."""
        self._was_cut = False
        if self._scene.tally["due"][0] == ended.FALLS_ASLEEP:
            self._heed(ended.FALLS_ASLEEP)

    def _refuse_while_stepping(self) -> None:
        """WorldError while `step` is at work: what it works on cannot be changed or asked for."""
        if self._stepping:
            raise WorldError(
                "the world is being stepped, by another thread: a world has one thread at a time "
                "(hrpsim.Batch steps copies side by side)"
            )

    def _refer_to(self, scene: Scene) -> None:
        """Make ready what the compiled step is called with."""
        previous, self._reference = self._reference, Reference(scene, self._reference)
        if previous is None or self._reference.numba_type is not previous.numba_type:
            self._run = None

    def _note_unmet(self, count: int) -> None:
        """Remember that steps did not converge, and what was worst of all while it has its name."""
        residual = float(self._scene.tally["worst_residual"][0])
        for unmet in (self._unmet_in_call, self._unmet_since_reset):
            unmet.add(count, residual, lambda: self._naming().worst_of_call(self._scene))

    def _naming(self) -> Naming:
        return Naming(
            self._owners,
            self._connections.values(),
            self._spring_hinges.values(),
            self.robots.values(),
        )

    def _heed(self, status: int) -> None:
        """Do what the step that ended with `status` asks for; WorldError if that is nothing."""
        scene = self._scene
        if status in (ended.SINGULAR, ended.DIVERGED, ended.TOO_STIFF):
            raise WorldError(
                why_step_failed(scene, self._entities, self._naming(), status, self.time)
            )
        with uninterrupted():
            if status == ended.FALLS_ASLEEP:
                self._fall_asleep()
                scene.tally["due"] = ended.DONE
            elif status == ended.WAKES:
                self._wake_shape(int(scene.tally["needed"][0]))
            else:
                self._scene = grow(scene, status)

    # -- looking ---------------------------------------------------------------------------

    @property
    def stats(self) -> StepStats:
        """What the last step did, and how the solver did over the steps before."""
        scene = self.scene
        worst = "" if scene.tally["converged"][0] else self._naming().worst_of_step(scene)
        last_call = self._unmet_in_call.among(self._steps_done - int(self._steps_before))
        since_reset = self._unmet_since_reset.among(self._steps_done)
        return stats_of(scene, self._kept_contacts, worst, last_call, since_reset)


def _whole_number(n) -> int:
    """Return a number of steps; WorldError for what is none."""
    try:
        if np.isfinite(n) and n >= 0 and n == int(n):
            return int(n)
    except (TypeError, ValueError, OverflowError):
        pass
    raise WorldError(f"the number of steps must be a whole number >= 0, got {n!r}")


_compilation_announced = False


def _announce_compilation() -> float | None:
    """Say once that a first run compiles; return when that began, or None if it need not."""
    global _compilation_announced
    if _compilation_announced:
        return None
    _compilation_announced = True  # looking at the cache takes longer than a step: look once
    if is_compiled():
        return None
    print(
        "hrpsim: compiling the kernels, once after an install or a change (about 20 s) ...",
        file=sys.stderr,
        flush=True,
    )
    return time.perf_counter()
