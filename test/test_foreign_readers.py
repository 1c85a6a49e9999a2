# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Every reader of foreign bytes passes hrpsim/common/foreign, and has hostile inputs of its own.

The readers are found in the code. A new one has to be named here, with kinds of test/fuzz.
"""

import ast
import os
from pathlib import Path

import pytest
from fuzz.targets import NEEDED, SUFFIXES, arm, verdict

import hrpsim
from hrpsim import HrpsimError
from hrpsim.analysis.motion_files import read_motion
from hrpsim.bag import messages
from hrpsim.bridges.policy_description import read_policy
from hrpsim.control import read_sequence
from hrpsim.control.framework.plugins import read_parameters
from hrpsim.fitting import read_recording

ROOT = Path(__file__).resolve().parents[1]
GATE = "hrpsim/common/foreign/"
# Calls that read a file or decode bytes, by their last name, and by all if that says too little.
READING = {
    *("open", "fdopen", "read_text", "read_bytes", "fromfile", "memmap", "loadtxt", "genfromtxt"),
    *("ZipFile", "is_zipfile", "unpack_archive", "load_scene", "InferenceSession", "iterparse"),
    *("from_xml_path", "from_xml_file", "load_from_string", "safe_load", "full_load", "open_zarr"),
}
NAMED = {
    *("np.load", "json.load", "json.loads", "pickle.load", "pickle.loads", "yaml.load"),
    *("etree.parse", "etree.fromstring", "etree.XML", "etree.HTML", "sqlite3.connect"),
    *("ElementTree.parse", "ElementTree.fromstring", "trimesh.load", "xacro.parse", "onnx.load"),
}
# Calls outside of the gate, by file, with the reason why they need none.
OWN = {
    "hrpsim/bag/checksums.py": "the metadata that the recorder has just written",
    "hrpsim/commands/cli.py": "os.devnull",
    "hrpsim/commands/example.py": "hrpsim's own files",
    "hrpsim/common/interrupts.py": "/proc",
    "hrpsim/common/sealing.py": "a pickle, after its checksum: pickles are programs",
    "hrpsim/common/stored_files.py": "the cache, with length and checksum",
    "hrpsim/common/version.py": "hrpsim's own package.xml",
    "hrpsim/control/motion/sequence_files.py": "writes",
    "hrpsim/engine/compile/kernel_folders.py": "the cache and hrpsim's own sources",
    "hrpsim/model/load.py": "the cache, after its checksum",
    "hrpsim/model/readers/mjcf/compile_child.py": "runs in the child process for MuJoCo",
    "hrpsim/model/readers/mjcf/kept.py": "the cache, after its checksum",
    "hrpsim/model/readers/mjcf/read.py": "the reason that the child process wrote",
    "hrpsim/model/readers/urdf/xacro_text.py": "xacro, which is trusted or refused",
    "hrpsim/model/shapes/mesh_decoding.py": "runs in the bounded child process",
    "hrpsim/bridges/mujoco/model.py": "MuJoCo's own model, beside hrpsim's",
    "hrpsim/explain/runs/mujoco_reference.py": "MuJoCo's model, after the child process read it",
    "hrpsim/bridges/onnx_trial.py": "runs in the bounded child process, then once more",
    "hrpsim/ros/base/child_process.py": "/proc and logs of hrpsim's own programs",
    "hrpsim/ros/base/domain.py": "the package.xml of the installed middleware",
    "hrpsim/ros/base/program.py": "os.devnull",
    "hrpsim/ros/recording/bag_writer.py": "installed definitions of messages, and writing",
    "hrpsim/ros/sweeps/ros_scenario.py": "writes",
    "hrpsim/ros/sweeps/cell_processes.py": "the folder that two processes of hrpsim share",
    "hrpsim/bag/bag_contents.py": "writes",
    "hrpsim/bag/sqlite.py": "regular files that the reader of bags found, with bounded work",
    "hrpsim/sweeps/checksums.py": "the attributes of a store that was just written",
    "hrpsim/sweeps/cells.py": "hrpsim's own sources, and cells of its own processes",
    "hrpsim/sweeps/journal.py": "lines with a checksum each",
    "hrpsim/sweeps/store.py": "descriptions of arrays, checked before zarr reads them",
    "hrpsim/sweeps/sweep.py": "attributes of a store that was checked",
    "hrpsim/world/file/load_shapes.py": "a picture, opened by the gate, of a checked size",
}
# Files that use the gate, and the kinds of hostile inputs of test/fuzz that reach them.
READERS = {
    "hrpsim/analysis/motion_files.py": ("keyframes", "csv_motion", "pos"),
    "hrpsim/bag/bag_contents.py": ("mcap", "fit_mcap"),
    "hrpsim/bag/mcap.py": ("mcap", "fit_mcap"),
    "hrpsim/bag/checksums.py": ("mcap", "db3"),
    "hrpsim/bag/signal_files.py": ("signals",),
    "hrpsim/bag/metadata.py": ("metadata",),
    "hrpsim/bridges/onnx_network.py": ("network",),
    "hrpsim/bridges/openhrp_motion.py": ("pos", "parameters"),
    "hrpsim/bridges/policy_check.py": ("run_npz", "run_csv", "metadata_props"),
    "hrpsim/bridges/exported_entries.py": ("network",),
    "hrpsim/bridges/policy_description.py": ("policy",),
    "hrpsim/bridges/foreign/class_values.py": ("gym_config",),
    "hrpsim/bridges/foreign/foreign_entries.py": ("policy",),
    "hrpsim/bridges/foreign/joint_order.py": ("gym_urdf",),
    "hrpsim/bridges/legged_gym_policy.py": ("gym_config",),
    "hrpsim/bridges/policy_formats.py": ("policy",),
    "hrpsim/bridges/rl_sar_policy.py": ("policy",),
    "hrpsim/bridges/unitree_policy.py": ("policy",),
    "hrpsim/rollout/rollout_scenario.py": ("network",),
    "hrpsim/bridges/torch_network.py": ("network",),
    "hrpsim/commands/example.py": ("world",),
    "hrpsim/control/biped/crosswise_feet.py": ("dae",),
    "hrpsim/control/framework/plugins.py": ("parameters",),
    "hrpsim/control/motion/sequence_files.py": ("pos", "waist"),
    "hrpsim/fitting/excitation/excitation_file.py": ("excitation",),
    "hrpsim/fitting/fit_study.py": ("study",),
    "hrpsim/fitting/recordings/readers.py": ("fit_npz", "fit_csv"),
    "hrpsim/fitting/report/description_edits.py": ("changed_urdf",),
    "hrpsim/fitting/report/model_edit.py": ("changed_world",),
    "hrpsim/learning/env_config.py": ("env_config",),
    "hrpsim/model/convert_targets.py": ("stl",),
    "hrpsim/model/extension.py": ("urdf",),
    "hrpsim/model/load.py": ("urdf", "visual_stl"),
    "hrpsim/model/readers/mjcf/kept.py": ("mjcf",),
    "hrpsim/model/readers/mjcf/read.py": ("mjcf",),
    "hrpsim/model/readers/mjcf_writer.py": ("mjcf",),
    "hrpsim/model/readers/openhrp/body_elements.py": ("body",),
    "hrpsim/model/readers/openhrp/body_file.py": ("body",),
    "hrpsim/model/readers/sdf/files.py": ("sdf", "sdf_world"),
    "hrpsim/model/readers/urdf/document.py": ("urdf", "srdf", "gazebo"),
    "hrpsim/model/readers/urdf/resolve_uris.py": ("package",),
    "hrpsim/model/readers/urdf/xacro_text.py": ("urdf", "xacro", "wrl"),
    "hrpsim/model/readers/usd/robot.py": ("usd",),
    "hrpsim/model/shapes/mesh_dae.py": ("dae", "visual_dae"),
    "hrpsim/model/shapes/mesh_decoding.py": ("stl", "obj", "ply", "picture", "visual_obj"),
    "hrpsim/model/shapes/mesh_files.py": ("stl", "glb", "visual_ply", "visual_stl"),
    "hrpsim/model/shapes/mesh_gltf.py": ("glb", "gltf", "visual_glb", "visual_gltf"),
    "hrpsim/ros/base/entities.py": ("urdf", "spawned_body"),
    "hrpsim/ros/base/parameters.py": ("parameters",),
    "hrpsim/ros/controller/controller_node.py": ("parameters",),
    "hrpsim/ros/replay/recorded_run.py": ("recording",),
    "hrpsim/ros/robot/frame_names.py": ("urdf",),
    "hrpsim/sweeps/framework/design.py": ("design_table",),
    "hrpsim/sweeps/study_file.py": ("study",),
    "hrpsim/sweeps/checksums.py": ("store",),
    "hrpsim/sweeps/worlds/world_source.py": ("sdf_world",),
    "hrpsim/world/file/cnoid_materials.py": ("cnoid",),
    "hrpsim/world/file/cnoid_world.py": ("cnoid",),
    "hrpsim/world/file/file_reader.py": ("world",),
    "hrpsim/world/file/load_shapes.py": ("npy", "table", "world"),
    "hrpsim/world/file/load_world.py": ("world", "spawned_body"),
}


def sources():
    for path in sorted((ROOT / "hrpsim").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(GATE):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def uses_of_the_gate(tree: ast.AST) -> set[str]:
    """Return the names that a module has from the gate."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("hrpsim.common.foreign")
        for alias in node.names
    }


def raw_calls(tree: ast.AST):
    """Yield line and name of each call that reads or decodes, but not by the gate."""
    own = uses_of_the_gate(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = ast.unparse(node.func)
            last = name.rpartition(".")[2]
            if (last in READING and name not in own) or ".".join(name.split(".")[-2:]) in NAMED:
                yield node.lineno, name


def test_no_reader_passes_by_the_gate():
    """Law: what reads or decodes is in the gate, or has a reason to need none; no reason is old."""
    found = {name: list(raw_calls(tree)) for name, tree in sources()}
    assert {name: calls for name, calls in found.items() if calls and name not in OWN} == {}
    assert [name for name in OWN if not found.get(name)] == []


def test_every_reader_has_hostile_inputs():
    """Law: each module that uses the gate is named with kinds of damaged files."""
    using = {name for name, tree in sources() if uses_of_the_gate(tree)}
    assert using == set(READERS)
    assert {kind for kinds in READERS.values() for kind in kinds} <= set(SUFFIXES)


def test_the_search_finds_what_reads():
    """The search itself: each way to read is found, the gate's is not."""
    text = "from hrpsim.common.foreign.text import read_text\nread_text(p)\n"
    calls = ("open(p)", "p.open()", "np.load(p)", "etree.parse(p)", "a.etree.fromstring(b)")
    for call in calls:
        assert len(list(raw_calls(ast.parse(text + call)))) == 1, call


NO_FILES = ("definition", "message_type", "fit_definition", "package", "picture", "metadata")
NO_FILES += ("metadata_props", "recording", "journal", "store", "spawned_body", "changed_snapshot")
NO_FILES += ("world_pickle", "snapshot_pickle")  # pickle.loads has bytes


@pytest.mark.parametrize("kind", [kind for kind in SUFFIXES if kind not in NO_FILES])
def test_a_pipe_is_refused_by_name(kind, tmp_path, monkeypatch):
    """Law: no reader opens a pipe, which would block; the message says what it is."""
    for package in NEEDED.get(kind, ()):
        pytest.importorskip(package)
    path = tmp_path / f"input{SUFFIXES[kind]}"
    os.mkfifo(path)
    monkeypatch.setattr(Path, "read_bytes", lambda self: b"<" if self == path else read(self))
    monkeypatch.setattr(Path, "write_bytes", lambda *_: 0)
    assert verdict(kind, path) == "refused"


def read(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@pytest.mark.parametrize("name", ["x" * 3000, "a\0b"], ids=["too long", "with a null character"])
@pytest.mark.parametrize(
    "reader",
    [
        lambda name: hrpsim.load_world(name),
        lambda name: hrpsim.load_model(name),
        lambda name: hrpsim.load_mesh(f"{name}.stl"),
        lambda name: list(messages(Path(name), "imu")),
        lambda name: read_recording(f"{name}.npz"),
        lambda name: read_motion(f"{name}.csv", arm()),
        lambda name: read_policy(Path(name)),
        lambda name: read_sequence(name, arm()),
        lambda name: read_parameters(Path(name), {}),
    ],
)
def test_names_that_no_file_can_have_are_refused(reader, name):
    with pytest.raises(HrpsimError):
        reader(name)
