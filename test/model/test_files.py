# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Files beside the description: packages, meshes, xacro and its arguments."""

import os
import re
from pathlib import Path

import pytest

from hrpsim import ModelError, WorldError, load_model, load_world
from hrpsim.model.load import expand_xacro
from hrpsim.world.file.load_shapes import read_table

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""


TETRAHEDRON = (
    "solid t\n"
    + "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {' '.join('1' if i == k else '0' for i in range(3))}\n" for k in corners)
        + "endloop\nendfacet\n"
        for corners in [(3, 1, 0), (3, 2, 1), (3, 0, 2), (0, 1, 2)]
    )
    + "endsolid t\n"
)


def body_with_mesh(uri: str) -> str:
    return (
        f'<robot name="r"><link name="body">{INERTIAL}<collision name="shell"><geometry>'
        f'<mesh filename="{uri}"/></geometry></collision></link></robot>'
    )


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `toy` with one mesh, in a folder of another name, and a description far from it."""
    for variable in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "sources" / "toy"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "shell.stl").write_text(TETRAHEDRON)
    (folder / "package.xml").write_text("<package><name>toy</name></package>")
    return folder


@pytest.fixture
def urdf(tmp_path):
    def write(text: str, *folders: str):
        path = tmp_path.joinpath(*folders, "robot.urdf")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


TOY_MESH = "package://toy/meshes/shell.stl"


def test_a_mesh_is_found_and_named(package, urdf):
    model = load_model(urdf(body_with_mesh(TOY_MESH)), package_paths={"toy": package})
    (use,) = model.meshes
    assert (use.link, use.uri, use.use) == ("body", TOY_MESH, "hull")
    assert use.file == str(package / "meshes" / "shell.stl")
    (shape,) = model.shapes
    assert (shape.name, shape.geometry.is_convex) == ("shell", True)


@pytest.mark.parametrize("levels", [0, 1])
def test_package_paths_may_be_the_package_or_hold_it(package, urdf, levels):
    folder = [package, package.parent][levels]
    path = urdf(body_with_mesh(TOY_MESH))
    for given in (folder, str(folder), [folder], (str(folder),)):
        assert load_model(path, package_paths=given).meshes


def test_a_package_is_found_through_ament(package, urdf, tmp_path, monkeypatch):
    (tmp_path / "install" / "share").mkdir(parents=True)
    package.rename(tmp_path / "install" / "share" / "toy")
    path = urdf(body_with_mesh(TOY_MESH))
    monkeypatch.setenv(
        "AMENT_PREFIX_PATH", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'install'}"
    )
    assert load_model(path).meshes


def test_a_package_is_found_through_ros_package_path(package, urdf, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(package.parent))
    assert load_model(urdf(body_with_mesh(TOY_MESH))).meshes


def test_a_package_is_found_above_the_file_by_its_package_xml(package, urdf):
    package.rename(package.with_name("toy-main"))
    path = urdf(body_with_mesh(TOY_MESH), "sources", "toy-main", "urdf", "v1")
    assert load_model(path).meshes


def test_a_package_is_found_beside_the_folders_above_the_file(package, urdf):
    assert load_model(urdf(body_with_mesh(TOY_MESH), "sources", "other", "urdf")).meshes


@pytest.mark.parametrize("start", ["package://toy/", "file://"])
def test_a_description_is_named_by_a_uri(package, urdf, start):
    file = package / "toy.urdf"
    file.write_bytes(Path(urdf(body_with_mesh(TOY_MESH))).read_bytes())
    uri = start + ("toy.urdf" if "package" in start else str(file))
    model = load_model(uri, package_paths={"toy": package})
    assert model.source == str(file)


def test_a_world_is_named_by_a_uri():
    world = load_world("package://hrpsim/config/stand.yaml")
    assert list(world.robots) == ["hrp2"]


@pytest.mark.parametrize("load", [load_model, load_world])
@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("model://toy", "'model' is not a known scheme. Use package://, file:// or a path"),
        ("package://no_such/toy.urdf", "package 'no_such' was not found in package_paths"),
    ],
)
def test_a_uri_that_names_no_file_is_refused(load, uri, told):
    with pytest.raises((ModelError, WorldError), match=re.escape(told)):
        load(uri)


def test_a_relative_mesh_lies_beside_the_file(package, urdf, monkeypatch, tmp_path):
    path = urdf(body_with_mesh("../meshes/shell.stl"), "sources", "toy", "urdf")
    monkeypatch.chdir(tmp_path)
    assert load_model(path).meshes
    assert load_model(os.path.relpath(path)).meshes


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_an_absolute_mesh_is_itself(package, urdf, prefix):
    path = urdf(body_with_mesh(f"{prefix}{package / 'meshes' / 'shell.stl'}"))
    assert load_model(path).meshes


@pytest.mark.parametrize(
    ("uri", "cause"),
    [
        ("package://toy/meshes/gone.stl", "there is no file 'meshes/gone.stl' in"),
        ("package://toys/shell.stl", "package 'toys' was not found in package_paths"),
        ("meshes/shell.stl", "there is no file"),
        ("https://example.org/shell.stl", "'https' is not a known scheme"),
    ],
)
def test_a_missing_mesh_names_file_element_and_cause(package, urdf, uri, cause):
    path = urdf(body_with_mesh(uri))
    with pytest.raises(ModelError) as caught:
        load_model(path, package_paths=package)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "link 'body' / collision 'shell' / geometry / mesh: missing mesh: " in message
    assert cause in message


XACRO = f"""<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="wide" default="false"/>
  <link name="body">{INERTIAL}</link>
  <xacro:if value="$(arg wide)"><link name="wing"/>
    <joint name="j" type="fixed"><parent link="body"/><child link="wing"/></joint></xacro:if>
</robot>"""


def test_xacro_is_known_by_its_namespace_and_takes_arguments():
    assert load_model(XACRO).link_names == ("body",)
    assert load_model(XACRO, xacro_arguments={"wide": True}).link_names == ("body", "wing")
    assert load_model(XACRO, xacro_arguments={"wide": "true"}).link_names == ("body", "wing")


def test_the_model_carries_plain_urdf():
    text = load_model(XACRO, xacro_arguments={"wide": True}).urdf
    assert "xacro" not in text
    assert load_model(text).link_names == ("body", "wing")
    assert expand_xacro(XACRO, {"wide": True}) == text


def test_expanded_files_that_kept_the_namespace_are_plain_urdf():
    text = XACRO.replace('<xacro:arg name="wide" default="false"/>', "")
    text = text[: text.index("<xacro:if")] + "</robot>"
    with pytest.raises(ModelError, match=r"is not a xacro file\. Leave out the arguments"):
        load_model(text, xacro_arguments={"wide": True})
    assert load_model(text).urdf == text


def test_an_argument_that_nothing_reads_is_refused():
    with pytest.raises(
        ModelError, match=r"xacro argument 'wid' does not exist. Did you mean 'wide'"
    ):
        load_model(XACRO, xacro_arguments={"wid": True})


MISTAKES = {
    ("$(arg wide)", "$(arg tall)"): "tall",
    ("$(arg wide)", "${1/0}"): "division by zero",
    ('<link name="wing"/>', "<xacro:wing/>"): "unknown macro name: xacro:wing",
    ('<link name="wing"/>', '<xacro:include filename="gone.xacro"/>'): "gone.xacro",
    ("</robot>", ""): "no element found",
}


@pytest.mark.parametrize("edit", MISTAKES)
def test_xacro_errors_name_file_and_cause(tmp_path, edit):
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(XACRO.replace('default="false"', 'default="true"').replace(*edit))
    with pytest.raises(ModelError, match=MISTAKES[edit]) as caught:
        load_model(path)
    assert str(path) in str(caught.value)
    assert load_model(XACRO).mass == 1.0, "one failure must not spoil the next load"


def test_errors_in_an_included_file_name_it(tmp_path):
    (tmp_path / "part.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${nothing}"/></robot>'
    )
    path = tmp_path / "robot.xacro"
    path.write_text(XACRO.replace("</robot>", '<xacro:include filename="part.xacro"/></robot>'))
    with pytest.raises(ModelError, match=r"robot\.xacro, in .*part\.xacro: xacro: .*nothing"):
        load_model(path)


def test_find_looks_where_package_uris_look(package, tmp_path):
    (package / "part.xacro").write_text('<robot><link name="tail"/></robot>')
    path = tmp_path / "robot.xacro"
    path.write_text(
        XACRO.replace(
            "</robot>",
            '<xacro:include filename="$(find toy)/part.xacro"/>'
            '<joint name="t" type="fixed"><parent link="body"/><child link="tail"/></joint>'
            "</robot>",
        )
    )
    assert load_model(path, package_paths=package).link_names == ("body", "tail")


def test_errors_after_xacro_give_no_line_of_a_text_that_nobody_wrote(tmp_path):
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(XACRO.replace('mass value="1"', 'mass value="${-1}"'))
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: link 'body' / inertial / mass: ")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "ISO-8859-1"])
def test_the_declared_encoding_is_read(tmp_path, encoding):
    path = tmp_path / "robot.urdf"
    declared = encoding.removesuffix("-sig")
    declaration = f'<?xml version="1.0" encoding="{declared}"?>'
    text = f'{declaration}<robot name="é"><link name="b">{INERTIAL}</link></robot>'
    path.write_bytes(text.encode(encoding))
    assert load_model(path).name == "é"
    assert load_model(text).name == "é"


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
MJCF = """<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body><freejoint/>
  <geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("kind", ["stl", "dae", "obj", "ply", "urdf", "npy", "mjcf"])
def test_what_git_lfs_has_in_place_of_a_file_is_named_with_the_cure(tmp_path, kind):
    """A clone without Git LFS has such pointers; what reads them names their format otherwise."""
    path = tmp_path / f"shell.{'stl' if kind == 'mjcf' else kind}"
    path.write_text(POINTER)
    text = body_with_mesh(str(path))
    if kind == "mjcf":
        pytest.importorskip("mujoco", reason="no mujoco")
        text = MJCF.format(path)
    with pytest.raises(ModelError, match=f"{path}.*Git LFS pointer.*git lfs pull"):
        if kind == "npy":
            read_table(path)
        else:
            load_model(path if kind == "urdf" else text)


@pytest.mark.parametrize("uri", ["Shell.STL", TOY_MESH.replace("shell", "SHELL")])
def test_a_name_that_differs_by_case_is_named(package, urdf, uri):
    """File systems of other computers do not distinguish the two."""
    path = urdf(body_with_mesh(uri), "toy-main")
    (path.parent / "shell.stl").write_text(TETRAHEDRON)
    with pytest.raises(ModelError, match=r"Did you mean 'shell\.stl'\? Upper and lower case"):
        load_model(path, package_paths={"toy": package})
