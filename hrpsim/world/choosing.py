"""The part of a world that chooses the solver of every constraint, by rules."""

from __future__ import annotations

from hrpsim.constraints.rows import PENALTY
from hrpsim.errors import WorldError
from hrpsim.step.late_kernels import provide_used
from hrpsim.world.objects.solver_rules import SolverRules


class Choosing:
    """What `World` can do with solvers."""

    def __init__(self, solver):
        self.solver_rules = SolverRules(solver)
        self._refuse_unstable_penalty(self.solver_rules.uses(PENALTY))

    def add_solver_rule(self, solver: str, kind=None, bodies=None, materials=None) -> None:
        """Choose the solver of constraints; the first rule that matches decides.

        solver: "iterative", "direct", or for contacts only "split" and "penalty". kind: "contact",
        "connection", "limit", "friction", "mimic", "lock" or "motor"; any by default. bodies: one
        or two patterns over "entity/link" (shapes of add_static and the ground are "world/name")
        with * and ?, for joints over "entity/joint"; a pattern without "/" is about entities. One
        pattern: either body fits it; two: in either order, and never a joint. materials: one or
        two names, for contacts, likewise. Where no rule matches, connections, locks and motors are
        direct and all else iterative. What a connection or `set_constraint` names itself goes
        before all rules.

        A "penalty" contact is a spring and damper whose points stick to anchors and slip (see
        `set_penalty`), known at the start of a step, before all other constraints are solved; only
        what sinks beyond the spring's maximum extension is a constraint, solved iteratively. It
        needs the integrator "semi_implicit". A step that begins with a contact that is too stiff
        for the time step raises WorldError.
        """
        self._refuse_unstable_penalty(solver == "penalty")
        self.solver_rules.add(solver, kind, bodies, materials)
        self.wake()
        self._choose_solvers()

    def _refuse_unstable_penalty(self, wanted: bool) -> None:
        if wanted and self.integrator != "semi_implicit":
            raise WorldError(
                "penalty contacts need the integrator 'semi_implicit': their explicit springs gain "
                f"energy with {self.integrator!r}"
            )

    def _choose_solvers(self) -> None:
        """Let the rules choose the solver of everything that is there."""
        for connection in self._connections.values():
            connection.choose_solver(self.solver_rules)
        if self._scene is None:
            return
        collision = self._scene.collision
        names = list(self._materials.index)
        classes, table = self.solver_rules.of_contacts(
            self._owners, [names[k] for k in collision.shapes["material"]]
        )
        collision.shapes["solver_class"] = classes
        self._scene = self._scene._replace(solver_choice=table)
        for robot in self.robots.values():
            robot.choose_solvers(self.solver_rules, self._scene.joint_laws)
        provide_used(self._scene)
