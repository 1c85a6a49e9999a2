# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compile an MJCF by MuJoCo and write the result to a file. Run this module as a program.

Usage: compile_child.py FILE OUTPUT TIME [MEMORY]. FILE is an MJCF. The arrays of the compiled model
are written to OUTPUT, an .npz. After a failure, the reason is written to OUTPUT with the suffix
.error. MuJoCo is C++ and the file may be untrusted, so this process does not import hrpsim. The
process ends by SIGPROF after TIME [s] of processor time, and has MEMORY [bytes] of address space.
"""

import json
import resource
import signal
import sys

MEMORY = 6_000_000_000  # address space without an argument [bytes]
ROOM = 1 << 28  # what MuJoCo needs beside its files, at least [bytes]
FILE_SIZE = 2 << 30  # bytes of the output
NOT_INSTALLED = 3  # exit status
REFUSED = 4

# Fields of mjModel; one that a version of MuJoCo does not have is left out.
SIZES = (
    *("nq", "nv", "nbody", "njnt", "ngeom", "nsite", "nmesh", "nhfield", "neq", "nsensor", "nkey"),
    *("nexclude", "npair", "ntendon", "nflex", "nskin", "ncam", "nlight", "nplugin", "nmocap"),
    *("ntex", "nnumeric", "ntext", "ntuple", "nu", "nactuator"),
)
ARRAYS = (
    *("body_parentid", "body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat"),
    *("body_inertia", "body_weldid", "body_jntadr", "body_jntnum", "body_gravcomp", "body_mocapid"),
    *("jnt_type", "jnt_bodyid", "jnt_qposadr", "jnt_dofadr", "jnt_pos", "jnt_axis", "jnt_range"),
    *("jnt_limited", "jnt_stiffness", "jnt_actfrclimited", "jnt_actfrcrange", "jnt_actgravcomp"),
    *("jnt_stiffnesspoly", "jnt_springyield", "jnt_margin", "jnt_solref", "jnt_solimp"),
    *("dof_armature", "dof_damping", "dof_dampingpoly", "dof_frictionloss", "dof_bodyid"),
    *("qpos0", "qpos_spring", "dof_solref", "dof_solimp"),
    *("geom_type", "geom_bodyid", "geom_dataid", "geom_pos", "geom_quat", "geom_size"),
    *("geom_contype", "geom_conaffinity", "geom_condim", "geom_friction", "geom_priority"),
    *("geom_solref", "geom_solimp", "geom_margin", "geom_gap", "geom_group", "geom_rgba"),
    *("geom_matid", "geom_adhesion", "geom_surfacevel", "geom_fluid"),
    *("mat_rgba", "mesh_vert", "mesh_face", "mesh_vertadr", "mesh_vertnum", "mesh_faceadr"),
    *("mesh_facenum", "hfield_size", "hfield_nrow", "hfield_ncol", "hfield_adr", "hfield_data"),
    *("site_bodyid", "site_pos", "site_quat"),
    *("eq_type", "eq_obj1id", "eq_obj2id", "eq_objtype", "eq_active0", "eq_data"),
    *("eq_solref", "eq_solimp", "key_mpos", "key_mquat"),
    *("pair_geom1", "pair_geom2", "pair_friction", "pair_dim"),
    *("exclude_signature", "sensor_type", "sensor_objtype", "sensor_objid", "sensor_noise"),
    *("sensor_cutoff", "sensor_delay"),
    *("actuator_trntype", "actuator_trnid", "actuator_dyntype", "actuator_gaintype"),
    "actuator_dynprm",
    *("actuator_biastype", "actuator_gainprm", "actuator_biasprm", "actuator_gear"),
    *("actuator_ctrllimited", "actuator_ctrlrange", "actuator_forcelimited", "actuator_forcerange"),
    *("actuator_armature", "actuator_damping", "actuator_ctrladr", "actuator_delay"),
    *("actuator_ctrlspec", "actuator_actlimited", "actuator_actrange", "actuator_actearly"),
    *("tendon_adr", "tendon_num", "tendon_length0", "tendon_stiffness", "tendon_damping"),
    *("tendon_frictionloss", "tendon_limited", "tendon_armature", "tendon_actfrclimited"),
    *("wrap_type", "wrap_objid", "wrap_prm"),
    *("key_qpos", "key_qvel", "key_ctrl", "key_act"),
)
NAMED = {
    **{"body": "nbody", "jnt": "njnt", "geom": "ngeom", "site": "nsite", "mesh": "nmesh"},
    **{"eq": "neq", "sensor": "nsensor", "actuator": "nu", "key": "nkey", "hfield": "nhfield"},
    "tendon": "ntendon",
}
OPTIONS = ("timestep", "density", "viscosity", "integrator")
CONTACTS = ("geom_contype", "geom_conaffinity")
# Fields that a flag disables, by its name in mjtDisableBit; their arrays are zero then.
TAKEN = {
    "GRAVITY": (),
    "EQUALITY": ("eq_active0",),
    "FRICTIONLOSS": ("dof_frictionloss",),
    "LIMIT": ("jnt_limited",),
    "CONTACT": CONTACTS,
    "CONSTRAINT": ("eq_active0", "dof_frictionloss", "jnt_limited", *CONTACTS),
    "SPRING": ("jnt_stiffness",),
    "DAMPER": ("dof_damping",),
    "PASSIVE": ("jnt_stiffness", "dof_damping"),  # until 3.3
}


def main() -> int:
    """Compile one file. Return the exit status."""
    source, output, time, *memory = sys.argv[1:]
    _limit_resources(float(time), int(memory[0]) if memory else MEMORY)
    try:
        import mujoco
        import numpy as np
    except ImportError:
        bytearray(ROOM)  # MemoryError: memory is short, and MuJoCo may be installed
        return NOT_INSTALLED
    try:
        model = mujoco.MjModel.from_xml_path(source)
    except Exception as error:
        with open(output + ".error", "w", encoding="utf-8") as file:
            file.write(str(error) or type(error).__name__)
        return REFUSED
    head, arrays = contents(mujoco, np, model)
    text = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    with open(output, "wb") as file:
        np.savez(file, **{"head": text, **arrays})
    return 0


def contents(mujoco, np, model) -> tuple:
    """Return sizes, names, options and enumerations of a mujoco.MjModel, and its arrays by name.

    Arrays of features that the model's flags disable are zero.
    """
    arrays = {name: np.asarray(getattr(model, name)) for name in ARRAYS if hasattr(model, name)}
    head: dict = {name: int(getattr(model, name)) for name in SIZES if hasattr(model, name)}
    head["names"] = {kind: _names(model, kind, size) for kind, size in NAMED.items()}
    head["name"] = bytes(model.names).partition(b"\0")[0].decode(errors="replace")
    head["option"] = {name: float(getattr(model.opt, name)) for name in OPTIONS}
    for name in ("gravity", "wind", "magnetic"):
        head["option"][name] = [float(x) for x in getattr(model.opt, name)]
    _take_disabled(np, _flags(mujoco.mjtDisableBit, model.opt.disableflags), head, arrays)
    head["enabled"] = [n.lower() for n in _flags(mujoco.mjtEnableBit, model.opt.enableflags)]
    head["version"] = mujoco.__version__
    head["enums"] = _enums(mujoco)
    return head, arrays


def _limit_resources(time: float, memory: int) -> None:
    """Limit processor time [s], memory and size of files of this process."""
    signal.setitimer(signal.ITIMER_PROF, time)
    for limit, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, hard))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _take_disabled(np, disabled: list, head: dict, found: dict) -> None:
    """Set the arrays of disabled features to zero. Store the names of the other flags in `head`."""
    for name in disabled:
        for array in TAKEN.get(name, ()):
            found[array] = np.zeros_like(found[array])
    if "GRAVITY" in disabled:
        head["option"]["gravity"] = [0.0, 0.0, 0.0]
    if {"CONTACT", "CONSTRAINT"}.intersection(disabled):
        head["npair"] = 0
    head["disabled"] = [name.lower() for name in disabled if name not in TAKEN]


def _names(model, kind: str, size: str) -> list:
    """Return the names of all elements of a kind, "" for an element without a name."""
    addresses = getattr(model, f"name_{kind}adr")
    raw = bytes(model.names)
    return [
        raw[at : raw.index(b"\0", at)].decode(errors="replace")
        for at in addresses[: len(addresses) if kind == "actuator" else getattr(model, size)]
    ]


def _flags(enum, flags: int) -> list:
    """Return the names of the flags that are set, without the prefix of the enumeration."""
    members = {n: int(m) for n, m in enum.__members__.items() if not n.startswith("mjN")}
    return [name.partition("_")[2] for name, bit in members.items() if flags & bit]


def _enums(mujoco) -> dict:
    """Return the members of MuJoCo's enumerations by name. Their numbers differ among versions."""
    kinds = ("mjtJoint", "mjtGeom", "mjtEq", "mjtObj", "mjtSensor", "mjtTrn", "mjtDyn", "mjtGain")
    result = {}
    for kind in (*kinds, "mjtBias", "mjtIntegrator", "mjtWrap"):
        members = getattr(mujoco, kind).__members__
        result[kind] = {name.partition("_")[2]: int(value) for name, value in members.items()}
    return result


if __name__ == "__main__":
    del sys.path[0]  # this folder, whose modules are hrpsim's
    sys.exit(main())
