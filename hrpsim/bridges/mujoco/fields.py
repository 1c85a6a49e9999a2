# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tables of the fields of MuJoCo's structures: simulated, computed, or refused.

The facade, its test and the page docs/reference/mujoco_fields.md read these tables. The test fails
if a field, for example of a new version of MuJoCo, is in no table.
"""

from __future__ import annotations

import re
from enum import Enum


class Use(Enum):
    """How hrpsim treats a script's write to a field of a model."""

    FOLLOWED = "simulated: a changed value acts from the next step on"
    ACCURACY = "accepted with a warning: how closely MuJoCo's own algorithms work"
    SHOWN = "MuJoCo's own: names, colours, cameras, keyframes, user data; no effect on the motion"
    FIXED = "read only: sizes, addresses, kinds, and values that MuJoCo derives; writing raises"
    REFUSED = "read only: hrpsim does not simulate the field; writing raises"


# Fields of MjModel that hrpsim follows, by the begin of their names.
_FOLLOWED = {
    "body_": "pos quat ipos iquat mass inertia gravcomp",
    "jnt_": "pos axis range limited stiffness stiffnesspoly actfrclimited actfrcrange",
    "dof_": "armature damping dampingpoly frictionloss",
    "": "qpos0 qpos_spring hfield_data hfield_size pair_friction pair_dim wrap_prm",
    "geom_": "pos quat size contype conaffinity condim friction priority fluid",
    "site_": "pos quat",
    "eq_": "data",
    "tendon_": "stiffness stiffnesspoly damping dampingpoly lengthspring range limited"
    " frictionloss",
    "actuator_": "gear gainprm biasprm dynprm ctrlrange ctrllimited forcerange forcelimited"
    " actrange actlimited actearly armature damping dampingpoly cranklength lengthrange",
}
# Followed fields that do not need a new world.
OF_BODIES_AND_JOINTS = frozenset(
    "body_mass body_inertia body_ipos body_iquat dof_damping dof_armature dof_frictionloss"
    " jnt_stiffness".split()
)
# Fields that MuJoCo's functions derive. MuJoCo's actuators and collision bounds use these fields.
DERIVED = frozenset("actuator_acc0 actuator_length0 tendon_length0 geom_rbound".split())
_SHOWN = (
    *(
        "cam_.*",
        "light_.*",
        "mat_.*",
        "tex_.*",
        "skin_.*",
        "names",
        "names_map",
        "paths",
        "name_.*",
    ),
    *("key_.*", "numeric_.*", "text_.*", "tuple_.*", ".*_user", ".*_rgba", ".*_group", ".*_matid"),
    *(".*_pathadr", "tendon_width", "site_size", "geom_castshadow", "flex_flatskin", "eq_active0"),
    "geom_(aabb|rbound)",  # hrpsim has bounds of its own
)
# Values that affect the motion in MuJoCo but not in hrpsim.
_REFUSED = (
    *(".*_sol(ref|imp|mix).*", ".*_margin", ".*_gap", ".*_adhesion", ".*_surfacevel"),
    *(".*_springyield", "jnt_actgravcomp", "flex.*", "plugin.*", ".*_plugin"),
    *("tendon_(armature|actfrclimited|actfrcrange)", ".*_delay"),
    *("sensor_(noise|cutoff|interval)", ".*_history", "tree_sleep_policy"),
)
# Sizes, addresses, numbers of other elements, kinds, and values that MuJoCo derives from the rest.
_FIXED = (
    *("n[a-zA-Z_0-9]+", ".*adr", ".*num", ".*id", ".*(type|kind)", "[BDM]_(col|row).*", "D_diag"),
    *("map[DM]2[DM]", "efm.*", "bvh_.*", "oct_.*", "mesh_.*", "hfield_n.*", "flg_.*", "signature"),
    *("tree_.*", "wrap_objid", ".*_signature", ".*_(sameframe|simple|invweight0|M0|length0?)"),
    *("body_(subtreemass|contype|conaffinity|margin)", "actuator_acc0"),
    *(".*_(ctrlspec|history.*)", "sensor_(dim|needstage|intprm)", ".*_plastic.*", "ten_J_.*"),
    *("geom_.*id", "jnt_.*id", "dof_.*", "opt", "stat", "vis", "tendon_treenum", "pair_geom[12]"),
)

OPTION = {
    Use.FOLLOWED: "timestep gravity integrator density viscosity wind magnetic disableflags"
    " enableflags disableactuator",
    Use.ACCURACY: "iterations tolerance ls_iterations ls_tolerance noslip_iterations"
    " noslip_tolerance ccd_iterations ccd_tolerance sdf_initpoints sdf_iterations solver jacobian"
    " sleep_tolerance",
    Use.REFUSED: "cone impratio o_friction o_margin o_solimp o_solref",
}
# Bits of disableflags and enableflags. All other bits are refused.
FLAGS_FOLLOWED = "CONSTRAINT EQUALITY FRICTIONLOSS LIMIT CONTACT SPRING DAMPER GRAVITY CLAMPCTRL"
FLAGS_FOLLOWED += " ACTUATION ENERGY EULERDAMP"
FLAGS_OF_ACCURACY = "WARMSTART REFSAFE MIDPHASE NATIVECCD ISLAND AUTORESET MULTICCD"
FLAGS_OF_ACCURACY += " DIAGEXACT SPECULATIVE"


class Need(Enum):
    """How the facade obtains the value of a field of MjData."""

    STATE = "the state and the inputs: read and written at each step"
    RESULT = "computed by hrpsim at each step"
    ACCELERATION = "computed by hrpsim at each step, for MuJoCo's forces at the start of the step"
    SENSORS = "sensordata: kinematic sensors by MuJoCo, forces and accelerations by hrpsim"
    POSES = "computed by MuJoCo from qpos"
    VELOCITIES = "computed by MuJoCo from qpos and qvel"
    DYNAMICS = "computed by MuJoCo: masses and passive forces of the state"
    OWN = "computed by hrpsim when the field is read"
    SHOWN = "MuJoCo's own, which the step does not change"


# Computations that fields of MjData need. Later ones include earlier ones, but poses do not include
# sensors. CLEAR: none, because a reset has set all fields to zero.
STATE, SENSORS, POSES, VELOCITIES, DYNAMICS, CLEAR = range(6)
_LEVELS = {Need.SENSORS: SENSORS, Need.POSES: POSES, Need.VELOCITIES: VELOCITIES}
_LEVELS |= {Need.DYNAMICS: DYNAMICS, Need.ACCELERATION: DYNAMICS}
DATA = {
    Need.STATE: "time qpos qvel act ctrl qfrc_applied xfrc_applied userdata mocap_pos mocap_quat"
    " eq_active",
    Need.RESULT: "actuator_force qfrc_actuator act_dot",
    Need.ACCELERATION: "qacc",
    Need.SENSORS: "sensordata",
    Need.POSES: "xpos xquat xmat xipos ximat xiquat xanchor xaxis geom_xpos geom_xmat geom_xquat"
    " site_xpos site_xmat site_xquat cam_xpos cam_xmat light_xpos light_xdir subtree_com cdof"
    " cinert ten_length ten_J ten_wrapadr ten_wrapnum wrap_xpos wrap_obj actuator_length"
    " actuator_moment moment_colind moment_rowadr moment_rownnz cfrc_ext",
    Need.VELOCITIES: "subtree_linvel subtree_angmom cdof_dot cvel ten_velocity actuator_velocity",
    Need.DYNAMICS: "crb M qM qLD qLDiagInv qfrc_bias qfrc_passive qfrc_spring qfrc_damper"
    " qfrc_gravcomp qfrc_fluid",
    Need.OWN: "contact ncon model qfrc_constraint qfrc_smooth qacc_smooth qacc_warmstart energy",
    Need.SHOWN: "qfrc_inverse warning signature nbuffer narena",
}
NEEDS = {name: need for need, names in DATA.items() for name in names.split()}
LEVELS = {name: _LEVELS.get(need, STATE) for name, need in NEEDS.items()}
OWN = frozenset(DATA[Need.OWN].split())
# Fields that are readable after mj_makeConstraint until the next step: MuJoCo's constraints of the
# state.
CONSTRAINED = frozenset(
    "ne nf nl nefc efc_type efc_id efc_J efc_J_rownnz efc_J_rowadr efc_J_rowsuper efc_J_colind"
    " efc_pos efc_margin efc_frictionloss efc_diagApprox efc_diagA".split()
)
# Fields of MjData that are refused. Groups are given by the begin of the names.
DATA_REFUSED = (
    *("efc_.*", "iefc_.*", "efm_.*", "island_.*", "map_.*", "flex.*", "bvh_.*", "plugin.*"),
    *("solver.*", "maxuse_.*", "tree_.*", ".*_awake.*", "n(e|f|l|A|J|Y|efc|idof|isl.*|plugin)"),
    *("nefm.*", ".*_island", "i(acc|acc_smooth|frc_.*)", "flg_.*", "cacc", "cfrc_int", "history"),
    *("plastic", "qDeriv", "qH", "qHDiagInv", "qLU", "qfrc_adhesion", "tendon_efcadr"),
    *("parena", "pbase", "pstack", "threadpool", "timer"),
)

# Fields of MjStatistic and MjVisual for rendering and for MuJoCo's solver.
SHOWN = "center extent meaninertia meanmass meansize global_ headlight map quality rgba scale"

# The first entry that fits a name of MjModel applies, after the followed fields.
PATTERNS = ((Use.REFUSED, _REFUSED), (Use.SHOWN, _SHOWN), (Use.FIXED, _FIXED))


def _followed() -> frozenset[str]:
    return frozenset(head + tail for head, tails in _FOLLOWED.items() for tail in tails.split())


FOLLOWED = _followed()
_OPTION_USE = {name: use for use, names in OPTION.items() for name in names.split()}


def use_in_model(name: str) -> Use | None:
    """Return how hrpsim treats a field of MjModel, or None for an unknown field."""
    if name in FOLLOWED:
        return Use.FOLLOWED
    return next((use for use, sort in PATTERNS if _fits(name, sort)), None)


def use_in_option(name: str) -> Use | None:
    """Return how hrpsim treats a field of MjOption, or None for an unknown field."""
    return _OPTION_USE.get(name)


def is_refused_of_data(name: str) -> bool:
    """Return whether the facade refuses to read or write a field of MjData."""
    return _fits(name, DATA_REFUSED)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)
