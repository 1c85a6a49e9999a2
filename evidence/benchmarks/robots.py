# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The robots for timings: hrp2_like, and robots of the package example-robot-data."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from lxml import etree

from hrpsim import Model, load_model, share_path

TALOS = "talos_data/robots/talos_full_v2.urdf"


def named_robots() -> dict[str, str]:
    """Return URDF texts by name: hrp2_like with bushes, and talos if installed."""
    bushes = {"bush": "true"}
    model = load_model(share_path("urdf/hrp2_like.urdf.xacro"), xacro_arguments=bushes)
    robots = {"hrp2_like": model.urdf}
    talos = shipped_robot(TALOS)
    return robots if talos is None else {**robots, "talos": talos}


def shipped_robot(name: str) -> str | None:
    """Return the file of the package example-robot-data whose path has this end, or None."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return None
    paths = (Path(file.locate()) for file in listed if str(file).endswith(name))
    return next((path.read_text(encoding="utf-8") for path in paths), None)


def bare_model(text: str) -> Model:
    """Return the model of a URDF text, without shapes, sensors and transmissions.

    Shapes are removed because the meshes may be missing.
    """
    root = etree.fromstring(text.encode())
    for element in [*root.iter("visual", "collision", "gazebo", "transmission")]:
        element.getparent().remove(element)
    for element in root.findall("hrpsim"):
        if element.find("rotor") is None:
            root.remove(element)
    return load_model(etree.tostring(root, encoding="unicode"))


def mujoco_model(mujoco, model: Model):
    """Return the MjModel of a bare model on a free joint, with the same rotor inertias."""
    root = etree.fromstring(model.urdf.encode())
    for element in root.findall("hrpsim"):
        root.remove(element)
    compiler = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    compiler.set("fusestatic", "true")
    etree.SubElement(root, "link", name="mujoco_world")
    free = etree.SubElement(root, "joint", name="mujoco_root", type="floating")
    etree.SubElement(free, "parent", link="mujoco_world")
    etree.SubElement(free, "child", link=model.base_link)
    spec = mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
    for joint in spec.joints:
        if joint.type != mujoco.mjtJoint.mjJNT_FREE:
            joint.armature = model.system.rotor_inertia[model.joint(joint.name).v_index]
    return spec.compile()
