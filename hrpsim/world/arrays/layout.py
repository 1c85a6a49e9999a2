"""Where entities stand in the arrays of a scene: what sleeps stands behind all else.

The arrays of bodies, positions and degrees of freedom are put in another order, in place, and all
that names a place in them is numbered anew. The scene that steps is made of the arrays' fronts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.dynamics.response import port_columns
from hrpsim.kinematics.forest import Forest, breadth_first
from hrpsim.step.scene.scene import Scene
from hrpsim.world.objects.entity import Entity

# The arrays of a scene with an entry for each degree of freedom.
BY_DOF = (
    "velocity",
    "past_accelerations",
    "control",
    "joint_laws",
    "joint_holds",
    "joint_impulses",
    "joint_struck",
)


def rearrange(scene: Scene, entities: Sequence[Entity]) -> None:
    """Let the entities of a scene stand in its arrays in the order given."""
    bodies = _places(entities, "first_body", lambda e: len(e.system.parent))
    positions = _places(entities, "first_q", lambda e: e.nq)
    dofs = _places(entities, "first_v", lambda e: e.nv)
    before = None
    for entity in entities:
        entity.stand_after(before)
        before = entity
    forest = scene.forest
    _permute((scene.q,), positions)
    _permute((forest.dofs, *(getattr(scene, name) for name in BY_DOF)), dofs)
    _permute((forest.bodies, scene.kinematics, scene.islands.trees), bodies)
    body_of, q_of, dof_of = (_inverse(places) for places in (bodies, positions, dofs))
    _renumber(forest.bodies, body_of, "parent", "root")
    forest.order[:] = breadth_first(forest.bodies["parent"], forest.bodies["root"])
    _renumber(forest.bodies, q_of, "q_index")
    _renumber(forest.bodies, dof_of, "v_index")
    _renumber(forest.dofs, body_of, "body")
    _renumber(forest.dofs, q_of, "q_index")
    _renumber(forest.dofs, dof_of, "mimic_dof")
    contacts = scene.collision.contacts[: int(scene.tally["contact_count"][0])]
    previous = scene.collision.previous[: int(scene.tally["previous_count"][0])]
    for records in (contacts, previous, scene.connections, scene.spring_hinges):
        _renumber(records, body_of, "body_a", "body_b")
    _renumber(scene.collision.shapes, body_of, "body")
    _renumber(scene.wrenches[: int(scene.tally["wrench_count"][0])], body_of, "body")
    length = scene.sensors["subtree_end"] - scene.sensors["body"]
    _renumber(scene.sensors, body_of, "body")
    scene.sensors["subtree_end"] = scene.sensors["body"] + length


def front(scene: Scene, bodies: int, positions: int, dofs: int, connections: int) -> Scene:
    """Return a scene of as many bodies, positions, ... as given, on the same memory."""
    n, nq, nv = bodies, positions, dofs
    work, ports = scene.work, scene.ports
    vectors = (
        "velocity_start",
        "velocity_middle",
        "velocity_struck",
        "joint_struck_start",
        "effort",
        "applied",
        "joint_inertia",
        "dv",
        "joint_load",
    )
    vectors += ("change", "no_effort", "push", "carried")
    work = work._replace(
        q_start=work.q_start[:nq],
        q_nearest=work.q_nearest[:nq],
        q_swept=work.q_swept[:nq],
        q_carried=work.q_carried[:nq],
        held=work.held[:n],
        subtrees=work.subtrees[:n],
        **{name: getattr(work, name)[:nv] for name in vectors},
    )
    ports = ports._replace(
        supports=ports.supports[:n],
        of_dof=ports.of_dof[:nv],
        velocity=ports.velocity[: port_columns(n, nv)],
    )
    return scene._replace(
        forest=Forest(
            *(array[:size] for array, size in zip(scene.forest, (n, nv, n), strict=True))
        ),
        q=scene.q[:nq],
        kinematics=scene.kinematics[:n],
        articulated=scene.articulated[:n],
        islands=scene.islands._replace(trees=scene.islands.trees[:n]),
        connections=scene.connections[:connections],
        ports=ports,
        work=work,
        **{name: getattr(scene, name)[:nv] for name in BY_DOF},
    )


def _places(entities: Sequence[Entity], first: str, count) -> np.ndarray:
    """Return the present places in an array of what the entities have there, entity by entity."""
    parts = [np.arange(getattr(e, first), getattr(e, first) + count(e)) for e in entities]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _permute(arrays: Sequence[np.ndarray], places: np.ndarray) -> None:
    for array in arrays:
        array[:] = array[places]


def _inverse(places: np.ndarray) -> np.ndarray:
    """Return the new place of each old one, and at the end -1 for -1."""
    inverse = np.full(len(places) + 1, -1, dtype=np.int64)
    inverse[places] = np.arange(len(places))
    return inverse


def _renumber(records: np.ndarray, new: np.ndarray, *fields: str) -> None:
    for field in fields:
        records[field] = new[records[field]]
