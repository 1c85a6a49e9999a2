# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Modules that moved can still be imported by the names that the documents gave."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from hrpsim import World, load_model
from hrpsim.common.moved import GO_WITH, MOVED, RENAMED, _public

# Names by paths below the public packages, as the pages of 1.0 gave them.
NAMED_BY_1_0 = {
    "analysis.analyser": "Analyser FixedPhase",
    "analysis.observer": "Observer",
    "analysis.summary": "analyse_motion",
    "bag.foot_wrenches": "Foot FootWrenches read_foot_wrenches",
    "bag.reader": "messages topic_types",
    "bridges.mc_rtc": "McRtc",
    "bridges.mujoco": "MjData MjModel",
    "bridges.onnx_policy": "OnnxPolicy",
    "bridges.openhrp_motion": "read_body_motion read_gains",
    "bridges.tsid": "TsidController",
    "bridges.tsid_walk": "SlowWalk",
    "control.controller_group": "ControllerGroup",
    "control.framework.control_loop": "ControlLoop",
    "control.framework.controller": (
        "BaseReading Command Controller ControllerError ImuReading LinkContact State "
        "controlled_joints joint_modes"
    ),
    "control.framework.plugins": "find_controller",
    "control.motion.leg_kinematics": "LegKinematics",
    "control.motion.motion_sequence": "Channel MotionSequence",
    "control.motion.playback": "Playback",
    "control.motion.sequence_files": "read_sequence write_sequence",
    "control.motion.stand_controller": "StandController",
    "control.pattern.footsteps": "climb",
    "control.pattern.walking_pattern": "WalkingPattern walking_pattern",
    "control.walk": "Walk",
    "control.walk_trial": "Trial measured_zmp",
    "crane.control": "Crane",
    "crane.score": "in_goal",
    "crane.script": "ScriptedCrane fetching",
    "geometry.link_distances": "LinkDistances Nearest",
    "geometry.motion_check": "MotionCollision check_motion",
    "learning.humanoids": "Humanoids",
    "learning.tasks": "TASKS Task",
    "model.convert": "convert",
    "model.model": "CollisionShape Frame Joint MeshUse Sensor",
    "resources": "share_path",
    "sweeps.framework.design": "Design product",
    "sweeps.framework.scenario": "Scenario",
    "sweeps.local_dask": "local_dask",
    "sweeps.sweep": "IN_FLIGHT replay",
    "viewer.session": "Session",
    "viewer.viewer": "Viewer",
    "world.checkpoint": "Checkpoint",
    "world.objects.body": "Body",
    "world.objects.connection": "Connection",
    "world.objects.contact_arrays": "ContactArrays",
    "world.objects.robot": "Robot",
    "world.objects.sensor_view": "SensorView",
    "world.parts.results": "Contact Convergence StepStats",
}
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "deprecation.md"


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_module_that_moved_and_says_so(old):
    """Law: one module, whichever name; its specification stays that of the new name."""
    if MOVED[old] == "evidence.crane.joystick":
        pytest.importorskip("rclpy")
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"is {_public(MOVED[old])} now.*{GO_WITH}"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(MOVED[old])
    assert module.__spec__.name == MOVED[old]


@pytest.mark.parametrize("module", RENAMED)
def test_an_old_name_in_a_module_is_the_new_one_and_warns(module):
    """Law: the same object, and the warning has its public name."""
    for old, new in RENAMED[module].items():
        public = f"{_public(module)}.{new}"
        with pytest.warns(DeprecationWarning, match=f"{module}.{old} is {public} now"):
            found = getattr(importlib.import_module(module), old)
        assert found is getattr(importlib.import_module(_public(module)), new)


def test_paths_that_the_pages_of_1_0_gave_can_be_imported():
    for module, names in NAMED_BY_1_0.items():
        found = importlib.import_module(f"hrpsim.{module}")
        assert [name for name in names.split() if not hasattr(found, name)] == [], module


def test_an_old_field_of_the_results_is_the_new_one_and_warns():
    stats = World().stats
    with pytest.warns(DeprecationWarning, match="ccd_queries"):
        assert stats.impact_looks == stats.ccd_queries == 0


def test_gains_need_no_second_call():
    robot = World().add_robot(load_model(PAGE.parents[2] / "urdf/hrp2_like.urdf.xacro"))
    with pytest.warns(DeprecationWarning, match="set_gains acts at once"):
        robot.use_gains()


def test_what_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hrpsim.control.never_was")


def test_the_page_lists_all_that_is_on_its_way_out():
    """Law: each old name with its new one, and a version that is a major one yet to come."""
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \| (\S+) \| (\S+) \|$", PAGE.read_text(), re.MULTILINE)
    assert {old: new for old, new, *_ in rows} == {
        "hrpsim check-urdf": "hrpsim check-model",
        "hrpsim.Robot.use_gains": "hrpsim.Robot.set_gains",
        "hrpsim.StepStats.impact_looks": "hrpsim.StepStats.ccd_queries",
        **{old: _public(module) for old, module in MOVED.items()},
        **{
            f"{module}.{old}": f"{_public(module)}.{new}"
            for module, names in RENAMED.items()
            for old, new in names.items()
        },
    }
    assert {goes for *_, goes in rows} == {GO_WITH} and GO_WITH.endswith(".0")
    version = re.search(r"<version>(\d+)", (PAGE.parents[2] / "package.xml").read_text())[1]
    assert int(GO_WITH.split(".")[0]) > int(version)
