# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What reads a file of each kind; only hrpsim's own errors may come out."""

from __future__ import annotations

import struct
import warnings
import zlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from fuzz.foreign import FOREIGN, read_foreign

from hrpsim import HrpsimError

SUFFIXES = {
    "urdf": ".urdf",
    "mjcf": ".xml",
    "wrl": ".wrl",
    "body": ".body",
    "srdf": ".srdf",
    "world": ".yaml",
    "parameters": ".yaml",
    "keyframes": ".yaml",
    "csv_motion": ".csv",
    "pos": ".pos",
    "waist": ".waist",
    "npy": ".npy",
    "table": ".csv",
    "stl": ".stl",
    "obj": ".obj",
    "ply": ".ply",
    "dae": ".dae",
    "mcap": ".mcap",
    "db3": ".db3",
    "metadata": ".yaml",
    "definition": ".msg",
    "xacro": ".urdf.xacro",
    "study": ".yaml",
    "policy": ".yaml",
    "env_config": ".yaml",
    "network": ".onnx",
    "journal": ".journal",
    "store": ".json",
    "message_type": ".txt",
    "recording": ".json",
    **FOREIGN,
}
NEEDED = {  # packages, without which a kind is not read
    "policy": ("onnx", "onnxruntime"),
    "network": ("onnx", "onnxruntime"),
    "journal": ("xarray", "zarr"),
    "store": ("xarray", "zarr"),
    "message_type": ("rclpy",),
    "recording": ("rclpy",),
    "metadata_props": ("onnx", "onnxruntime"),
    "design_table": ("scipy",),
    "usd": ("pxr",),
}
LONGEST_MESSAGE = 2000


@lru_cache(maxsize=1)
def arm():
    """Return a robot of two joints, whose motions are read."""
    from hrpsim import load_model

    return load_model(ARM, base="fixed")


INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
ARM = (
    f'<robot name="arm"><link name="a"/><link name="b">{INERTIAL}</link>'
    f'<link name="c">{INERTIAL}<visual><geometry><box size="1 1 1"/></geometry>'
    '<material name="m"><color rgba="1 0 0 1"/></material></visual><collision><origin xyz="0 0 1"/>'
    '<geometry><cylinder radius="0.1" length="1"/></geometry></collision></link>'
    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="10" velocity="5"/></joint>'
    '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>'
    '<dynamics damping="0.1"/></joint><hrpsim reference="j"><gains kp="10" kd="1"/></hrpsim>'
    "</robot>"
)


def read(kind: str, path: Path) -> None:
    """Read a file of a kind; raises whatever its reader raises."""
    if kind in ("wrl", "body"):
        from model.openhrp_files import SOLE

        (path.parent / "sole.wrl").write_text(SOLE)
    if kind in ("urdf", "mjcf", "wrl", "body"):
        from hrpsim import load_model

        load_model(path, base="fixed" if len(path.read_bytes()) % 2 else "free")
    elif kind == "srdf":
        from hrpsim.model.readers.urdf.srdf import read_disabled_collisions

        read_disabled_collisions(path, ("a", "b", "c"))
    elif kind == "world":
        from hrpsim import load_world

        # What a world does when it steps is not about files.
        path.write_bytes(path.read_bytes().replace(b"settle", b"settl"))
        load_world(path).scene  # noqa: B018  all arrays are made
    elif kind == "parameters":
        from hrpsim.control import Walk
        from hrpsim.control.framework.plugins import read_parameters

        read_parameters(path, Walk.parameter_kinds)
    elif kind in ("keyframes", "csv_motion"):
        from hrpsim.analysis.motion_files import read_motion

        read_motion(str(path), arm())
    elif kind in ("pos", "waist"):
        from hrpsim.control import read_sequence

        if kind == "waist":
            path.with_suffix(".pos").write_text("0 0 0\n1 0.1 0.2\n")
        read_sequence(path.with_suffix(""), arm())
    elif kind in ("npy", "table"):
        from hrpsim import HeightField
        from hrpsim.world.file.load_shapes import read_table

        HeightField(read_table(path), spacing=0.1)
    elif kind in ("mcap", "db3", "metadata", "definition"):
        _read_bag(kind, path)
    elif kind in ("xacro", "policy", "network", "message_type", "recording", "env_config"):
        _read_other(kind, path)
    elif kind in ("study", "journal", "store"):
        _read_sweep(kind, path)
    elif kind in FOREIGN:
        read_foreign(kind, path)
    else:
        from hrpsim import load_mesh

        load_mesh(path, hull=bool(len(path.read_bytes()) % 2))


def _read_other(kind: str, path: Path) -> None:
    """Read what has expressions, what commands a robot, and what a peer or a bag says of itself."""
    if kind == "xacro":
        from hrpsim import load_model

        if not any(long in path.read_bytes() for long in (b"9**9", b"[0]*")):  # xacro is a program
            load_model(path)
    elif kind == "message_type":
        from hrpsim.ros.recording.bag_writer import message_type

        message_type(path.read_text(errors="surrogateescape"))
    elif kind == "env_config":
        from hrpsim.learning import RobotCfg, load_env_config

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_env_config(path, RobotCfg(description=ARM))
    elif kind == "recording":
        from fuzz.corpus import described_bag

        from hrpsim.ros.replay.recorded_run import RecordedTopics

        RecordedTopics(described_bag(path))
    else:
        from fuzz.corpus import seeds

        from hrpsim.bridges import OnnxPolicy
        from hrpsim.bridges.onnx_network import Network
        from hrpsim.bridges.policy_network import Question

        if kind == "policy":
            path.with_name("policy.onnx").write_bytes(seeds("network")[0])
            OnnxPolicy().configure(arm(), {"description": str(path)})
            return
        network = Network(path)
        with suppress(TypeError):  # lengths that are left open
            shapes = [np.zeros(one.shape, np.float32) for one in network.inputs]
            network.answer(Question(shapes[0][0], shapes[1:]))
        network.close()


def _read_sweep(kind: str, path: Path) -> None:
    """Read a study, and plan it; or a store, whose journal or description of arrays is given."""
    from fuzz.corpus import sound_store

    from hrpsim.sweeps.store import open_store
    from hrpsim.sweeps.study_file import read_study
    from hrpsim.sweeps.sweep import planned

    if kind == "study":
        study = read_study(path)
        planned(study.scenario, study.design, study.seed)
        return
    store = sound_store(path.parent)
    if kind == "store":
        (store / "speed" / ".zarray").write_bytes(path.read_bytes())
    else:  # each line with its checksum, else only that would be tried
        lines = path.read_bytes().split(b"\n")[:-1]
        written = b"".join(b"%08x %s\n" % (zlib.crc32(line), line) for line in lines)
        store.with_name(f"{store.name}.journal").write_bytes(written)
    open_store(store)


def _read_bag(kind: str, path: Path) -> None:
    """Read all that a bag holds: a file, a folder with its metadata.yaml, a type's definition."""
    from fuzz.corpus import seeds

    from hrpsim.bag import BagError
    from hrpsim.bag import reader as bag_reader
    from hrpsim.bag.types import decode, read_types

    if kind == "definition":
        data = path.read_bytes()
        try:
            types = read_types(data.decode(errors="replace"), "fuzz/msg/Thing")
        except ValueError as error:  # of which a BagError is made
            raise BagError(str(error)) from error
        with suppress(ValueError, struct.error):
            decode(types, "fuzz/msg/Thing", b"\0\1\0\0" + data)
        return
    bag = path
    if kind == "metadata":
        bag = path.parent / "bag"
        bag.mkdir(exist_ok=True)
        (bag / "bag.mcap").write_bytes(seeds("mcap")[0])
        (bag / "metadata.yaml").write_bytes(path.read_bytes())
    bag_reader.message_counts(bag)
    bag_reader.lost_messages(bag)
    failure = None
    for topic, name in bag_reader.topic_types(bag).items():
        try:
            list(bag_reader.messages(bag, topic))
            if name.endswith("PointStamped"):
                bag_reader.points(bag, topic)
        except BagError as error:
            failure = error
    if failure:
        raise failure


def verdict(kind: str, path: Path) -> str:
    """Return "read" or "refused", else what is wrong with how a file was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(kind, path)
        except HrpsimError as error:
            text = str(error)
            if "\n" in text or "\r" in text:
                return f"an error of several lines: {text[:300]!r}"
            if len(text) >= LONGEST_MESSAGE:
                return f"an error of {len(text)} characters: {text[:300]!r}"
            return "refused"
        except BaseException as error:
            import traceback

            place = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} in {place.name}:{place.lineno}: {str(error)[:200]}"
    return "read"
