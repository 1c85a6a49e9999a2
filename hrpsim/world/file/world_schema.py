# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The schema of world files: every section, its keys, and the allowed values.

docs/reference/world_file.md explains the entries. Numbers have the same bounds as in World
(hrpsim.common.values).
"""

from __future__ import annotations

from typing import Any

import voluptuous as vol

from hrpsim.common import limits
from hrpsim.common.errors import unknown_name
from hrpsim.common.schema import (
    either,
    flag,
    integer,
    listing,
    mapping,
    name,
    needed,
    null_or,
    numeric,
    one_of,
    scalar,
    scalar_or_list,
    table,
    vector,
)
from hrpsim.common.values import LIMIT, NOT_NEGATIVE, POSITIVE, RANGES, SWEEPS
from hrpsim.engine.constraints.solver_table import solvers_of
from hrpsim.model.described import AXES
from hrpsim.model.described import KINDS as CONNECTION_KINDS
from hrpsim.model.model import BASES, MESH_USES
from hrpsim.model.sensors.kinds import SAMPLED_KINDS, SAMPLED_SETTINGS
from hrpsim.model.shapes.terrain import TERRAINS
from hrpsim.world.objects.solver_rules import JOINT_KINDS, KINDS, NAMES
from hrpsim.world.parts.world_contents import IMPACT_LAWS
from hrpsim.world.settings import ACCURACIES, FRICTION_MODELS, INTEGRATORS, STOPPING_RULES

CATEGORIES = ("object", "robot", "human", "dynamic_object", "static_object")
SHAPES = (*("box", "sphere", "cylinder", "capsule", "mesh", "height_field", "compound"), *TERRAINS)
JOINT_PROPERTIES = ("friction", "damping", "stiffness", "rotor_inertia")
_SEED = integer(0, 2**32 - 1)
MOST_COPIES = 1000
_PARTS = integer(1, limits.COMPOUND_PARTS)
_POSE = {"position": vector(3), "orientation": vector(4)}
_COMPLIANCE = {
    "compliance": numeric(NOT_NEGATIVE),
    "damping_time": numeric(NOT_NEGATIVE),
    "force_limit": numeric(LIMIT),
}
_SIX = {
    key: either("a number, or a list of six", kind, listing(kind, 6, 6))
    for key, kind in _COMPLIANCE.items()
}
_ONE_OR_TWO = either("a name, or a list of two", name, listing(name, 1, 2))
_BETWEEN = listing(null_or(name), 2, 2, "a list of two names")
_MOTOR = mapping({}, required={"velocity": numeric(), "force_limit": numeric(LIMIT)})
_SCALE = either("a number, or a list of three", numeric(), vector(3))
_STEP = either("a number, or a list of two", numeric(POSITIVE), vector(2, POSITIVE))
_ROUND = mapping({}, required={"radius": numeric(POSITIVE), "length": numeric(POSITIVE)})

_RULE = mapping(
    {
        "kind": null_or(one_of("kind of constraint", KINDS)),
        "bodies": null_or(_ONE_OR_TWO),
        "materials": null_or(_ONE_OR_TWO),
    },
    required={"solver": one_of("solver", NAMES)},
)
_SOLVER_NAME = one_of("solver", NAMES)
_NAME_OR_RULES = either("a solver's name, or a list of rules", _SOLVER_NAME, listing(_RULE))


def _solver(value):
    """Check the name of a solver, or a list of rules.

    The error for a name lists the valid names.
    """
    return (_SOLVER_NAME if isinstance(value, str) else _NAME_OR_RULES)(value)


_WORLD = mapping(
    {
        **{key: numeric(RANGES[key]) for key in ("time_step", "tolerance", "contact_margin")},
        **{key: numeric(RANGES[key]) for key in ("correction_rate", "correction_speed", "slop")},
        **{key: numeric(RANGES[key]) for key in ("slip_threshold", "restitution_threshold")},
        "gravity": vector(3, RANGES["gravity"]),
        "integrator": one_of("integrator", INTEGRATORS),
        "sweep_limit": null_or(integer(1, SWEEPS)),
        "impact_law": one_of("impact_law", IMPACT_LAWS),
        "friction_model": one_of("friction_model", FRICTION_MODELS),
        "stop": one_of("stop", STOPPING_RULES),
        "accuracy": null_or(one_of("accuracy", ACCURACIES)),
        "solver": null_or(_solver),
        **{key: flag for key in ("position_projection", "continuous", "sleeping", "audit")},
    }
)
_GROUND = mapping({"height": numeric(RANGES["height"]), "normal": vector(3), "material": name})
_FRICTION = mapping(
    {
        "kinetic": numeric(RANGES["friction"]),
        "restitution": numeric(RANGES["restitution"]),
        "impact_law": null_or(one_of("impact_law", IMPACT_LAWS)),
        **{key: numeric(RANGES["friction_length"]) for key in ("torsional", "rolling")},
    },
    required={"between": _BETWEEN, "static": numeric(RANGES["friction"])},
)
_CONTACT = mapping(_COMPLIANCE, required={"between": _BETWEEN})
_PENALTY = mapping(
    {
        "stiffness": numeric(POSITIVE),
        "damping_ratio": numeric(NOT_NEGATIVE),
        "max_extension": numeric(LIMIT),
    },
    required={"between": _BETWEEN},
)
_CONSTRAINT = mapping(
    {
        "joints": null_or(either("a joint's name, or a list of names", name, listing(name))),
        **_COMPLIANCE,
        "solver": one_of("solver", NAMES),
    },
    required={"kind": one_of("kind of joint constraint", JOINT_KINDS)},
)
_SETTING = either(
    "a number, a list of numbers, true or false, or a word",
    flag,
    numeric(),
    name,
    listing(numeric()),
)
_SENSOR = mapping(
    {**_POSE, **dict.fromkeys(SAMPLED_SETTINGS, _SETTING)},
    required={"name": name, "type": one_of("sensor type", SAMPLED_KINDS), "link": name},
)
_COPIES = mapping(
    {
        "grid": listing(integer(1, MOST_COPIES), 2, 2, "a list of two numbers, along x and y"),
        "spacing": vector(2),
        "offsets": listing(vector(3), 1, MOST_COPIES),
    }
)
_ROBOT = mapping(
    {
        "name": name,
        "copies": _COPIES,
        "xacro_arguments": table(scalar, "from arguments to values"),
        "base": one_of("base", BASES),
        **_POSE,
        "on_floor": flag,
        "joints": table(numeric(), "from joints to positions"),
        "joint_properties": table(
            mapping({key: numeric(NOT_NEGATIVE) for key in JOINT_PROPERTIES}),
            "from joints to properties",
        ),
        "gains": table(
            listing(numeric(NOT_NEGATIVE), 2, 2, "a list of two numbers, kp and kd"),
            "from joints to [kp, kd]",
        ),
        "actuators": table(
            either("a preset's name, or a mapping", name, table(scalar_or_list, "of properties")),
            "from joints to properties of their actuators",
        ),
        "locks": table(null_or(numeric()), "from joints to positions"),
        "motors": table(_MOTOR, "from joints to {velocity, force_limit}"),
        "constraints": listing(_CONSTRAINT),
        "accept_nonphysical_inertia": flag,
        "meshes": one_of("meshes", MESH_USES),
        "srdf": name,
        "self_collision": flag,
        "sensors": listing(_SENSOR),
    },
    required={"urdf": name},
)
_CONNECTION = mapping(
    {
        "name": name,
        "kind": null_or(one_of("kind of connection", CONNECTION_KINDS)),
        "axes": listing(one_of("axis", AXES), 1, 6),
        "point": either(
            "a list of three numbers, or two such lists", vector(3), listing(vector(3), 2, 2)
        ),
        "axis": vector(3),
        "x_axis": vector(3),
        "frame_a": mapping(_POSE),
        "frame_b": mapping(_POSE),
        "length": numeric(POSITIVE),
        **_SIX,
        "solver": null_or(one_of("solver", solvers_of("connection"))),
        "collide": flag,
        "enabled": flag,
        "drive": table(_MOTOR, "from axes to {velocity, force_limit}"),
    },
    required={"between": _BETWEEN},
)


def shape(value: Any) -> dict[str, Any]:
    """Check {kind: size} of one shape, including the parts of a compound. Return the shape."""
    return _shape(value, [0], 1)


def _shape(value: Any, count: list[int], depth: int) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise needed(f"a shape, a mapping with one key from {', '.join(SHAPES)}", value)
    kind = next(iter(value))
    if kind not in SHAPES:
        raise vol.Invalid(unknown_name("shape", kind, SHAPES), [kind])
    count[0] += 1
    if count[0] > limits.COMPOUND_PARTS:
        raise vol.Invalid(limits.excess("COMPOUND_PARTS", "parts"))
    if depth > limits.COMPOUND_DEPTH:
        raise vol.Invalid(limits.excess("COMPOUND_DEPTH", "nested compounds"))
    check = _SIZES.get(kind)
    if kind == "compound":
        part = mapping(_POSE, required={"shape": lambda inner: _shape(inner, count, depth + 1)})
        check = listing(part, 1, what="a list of parts")
    return vol.Schema({kind: check})(value)


_SIZES = {
    "box": vector(3, POSITIVE),
    "sphere": numeric(POSITIVE),
    "cylinder": _ROUND,
    "capsule": _ROUND,
    "mesh": mapping({"scale": _SCALE, "hull": flag}, required={"file": name}),
    "height_field": mapping(
        {
            "heights": listing(listing(numeric(), 2), 2, what="two or more rows of numbers"),
            "file": name,
            "range": vector(2),
            "spacing": _STEP,
            "size": _STEP,
            "origin": vector(3),
        }
    ),
    "stairs": mapping(
        {"landing": numeric(NOT_NEGATIVE)},
        required={"count": _PARTS, **{key: numeric(POSITIVE) for key in ("rise", "run", "width")}},
    ),
    "ramp": mapping(
        {"landing": numeric(NOT_NEGATIVE)},
        required={key: numeric(POSITIVE) for key in ("length", "rise", "width")},
    ),
    "rubble": mapping(
        {"seed": _SEED},
        required={key: numeric(POSITIVE) for key in ("length", "width", "height", "stone")},
    ),
    "boxes": mapping(
        {"seed": _SEED},
        required={key: numeric(POSITIVE) for key in ("length", "width", "height", "size")},
    ),
    "waves": mapping(
        {"spacing": numeric(POSITIVE)},
        required={key: numeric(POSITIVE) for key in ("length", "width", "height", "wave")},
    ),
    "stepping_stones": mapping(
        {"uneven": numeric(NOT_NEGATIVE), "seed": _SEED},
        required={
            "count": _PARTS,
            "aside": numeric(NOT_NEGATIVE),
            **{key: numeric(POSITIVE) for key in ("spacing", "size", "height")},
        },
    ),
    "rough_ground": mapping(
        {"spacing": numeric(POSITIVE), "seed": _SEED},
        required={key: numeric(POSITIVE) for key in ("length", "width", "height", "wave")},
    ),
}
_BODY = {
    "name": name,
    **_POSE,
    "on_floor": flag,
    "velocity": vector(3),
    "angular_velocity": vector(3),
    "material": name,
    "inertia": listing(vector(3), 3, 3, "a list of three rows"),
    "color": vector(3),
}
_NEEDED_OF_BODY = {"shape": shape, "mass": numeric(POSITIVE)}
BODY = mapping(_BODY, required=_NEEDED_OF_BODY)
_STATIC = mapping({"name": name, **_POSE, "material": name}, required={"shape": shape})

_METADATA = {"description": name, "tags": listing(name)}
_ENTITY = mapping({"category": one_of("category", CATEGORIES), **_METADATA})
_REGION = mapping(
    {"box": listing(vector(3), 2, 2, "a list of two corners"), "sphere": numeric(POSITIVE)}
)


def _bounds(value: Any) -> dict[str, Any]:
    """Check {kind: size} of one region. Return the region."""
    value = _REGION(value)
    if len(value) != 1:
        raise needed("either a box or a sphere", value)
    return value


_NAMED_POSE = mapping(
    {"orientation": vector(4), "bounds": _bounds, **_METADATA},
    required={"name": name, "position": vector(3)},
)
_ABOUT = mapping(
    {
        "name": name,
        **_METADATA,
        "entities": table(_ENTITY, "from entities to their metadata"),
        "poses": listing(_NAMED_POSE),
    }
)

WORLD_FILE = mapping(
    {
        "about": null_or(_ABOUT),
        "world": null_or(_WORLD),
        "ground": either("a mapping, or true or false", flag, null_or(_GROUND)),
        "friction": listing(_FRICTION),
        "contacts": listing(_CONTACT),
        "penalties": listing(_PENALTY),
        "solvers": listing(_RULE),
        "static": listing(_STATIC),
        "robots": listing(_ROBOT),
        "bodies": listing(mapping({**_BODY, "copies": _COPIES}, required=_NEEDED_OF_BODY)),
        "connections": listing(_CONNECTION),
        "no_collisions": listing(listing(name, 2, 2, 'two of "entity" or "entity/link"')),
        "settle": null_or(flag),
    }
)
