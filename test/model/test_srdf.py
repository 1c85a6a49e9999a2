# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""SRDF: pairs of links that never collide, read as the tools of ROS read them, and written."""

import pytest

from hrpsim import ModelError, ModelWarning, load_model
from hrpsim.model.model import adjacent_bodies
from hrpsim.model.readers.urdf.srdf import read_disabled_collisions, write_disabled_collisions
from robots import ALL_ROBOTS, HRP2_LIKE

LINKS = ("a", "b", "c", "d")


def pairs(text):
    return read_disabled_collisions(f'<robot name="r">{text}</robot>', LINKS)[0]


def test_pairs_have_no_order():
    assert pairs(
        '<disable_collisions link1="b" link2="a" reason="Adjacent"/>'
        '<disable_collisions link1="a" link2="b"/><group name="arm"/>'
    ) == {("a", "b")}


def test_a_link_is_kept_from_all_but_some():
    assert pairs(
        '<disable_default_collisions link="b"/><enable_collisions link1="c" link2="b"/>'
        '<disable_collisions link1="c" link2="d"/>'
    ) == {("a", "b"), ("b", "d"), ("c", "d")}


def test_strange_links_are_without_effect_and_named():
    found, notes = read_disabled_collisions(
        '<robot name="r">\n<disable_collisions link1="a" link2="x"/></robot>', LINKS
    )
    assert found == frozenset()
    assert notes == ("<SRDF text>:2: disable_collisions: the robot has no link 'x'",)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('<robot name="r"><disable_collisions link1="a"/></robot>', "'link2' is missing"),
        ("<robot", "XML syntax error"),
        ("<urdf/>", "must be <robot>, got <urdf>"),
        ("nowhere.srdf", "nowhere.srdf: cannot be read"),
    ],
)
def test_mistakes_are_named(text, cause):
    with pytest.raises(ModelError, match=cause):
        read_disabled_collisions(text, LINKS)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "r.srdf"
    write_disabled_collisions(path, "r", {("c", "d"): "Never", ("a", "b"): "Adjacent"})
    assert read_disabled_collisions(path, LINKS) == ({("a", "b"), ("c", "d")}, ())
    assert '<disable_collisions link1="a" link2="b" reason="Adjacent"/>' in path.read_text()
    with pytest.raises(ModelError, match="cannot be written"):
        write_disabled_collisions(tmp_path / "no" / "r.srdf", "r", {})


def test_the_srdf_of_a_real_robot_fits_it():
    urdf = ALL_ROBOTS["talos_data/talos_full_v2"]
    srdf = urdf.parent.parent / "srdf" / "talos.srdf"
    model = load_model(urdf, meshes="none", srdf=srdf)
    text = srdf.read_text()
    assert len(model.disabled_collisions) > 400
    assert all(f'"{a}"' in text and f'"{b}"' in text for a, b in model.disabled_collisions)


def test_an_srdf_for_other_links_is_named_line_by_line(tmp_path):
    lines = [f'<disable_collisions link1="BODY" link2="{k}"/>' for k in ("HEAD", "LARM_LINK1")]
    (tmp_path / "other.srdf").write_text("<robot name='r'>\n" + "\n".join(lines) + "</robot>")
    with pytest.warns(ModelWarning, match=r"other\.srdf:2: .* no link 'HEAD'") as caught:
        model = load_model(HRP2_LIKE, srdf=tmp_path / "other.srdf")
    assert model.disabled_collisions == {("BODY", "LARM_LINK1")} and len(caught) == 1


def link(name, shape=True):
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>' if shape else ""
    return (
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"'
        f' ixz="0" iyz="0"/></inertial>{box}</link>'
    )


def joint(parent, child, kind="continuous"):
    return (
        f'<joint name="{parent}-{child}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 0 1"/></joint>'
    )


def adjacent_links(model):
    return {
        tuple(sorted((s.link, t.link)))
        for s in model.shapes
        for t in model.shapes
        if s.body != t.body and tuple(sorted((s.body, t.body))) in adjacent_bodies(model)
    }


def test_links_are_adjacent_through_joints_and_through_links_without_shapes():
    model = load_model(
        '<robot name="r">'
        + link("trunk")
        + link("plate")
        + joint("trunk", "plate", "fixed")
        + link("shoulder", shape=False)
        + joint("trunk", "shoulder")
        + link("arm")
        + joint("shoulder", "arm")
        + link("hand")
        + joint("arm", "hand")
        + link("other")
        + joint("trunk", "other")
        + "</robot>"
    )
    assert adjacent_links(model) == {
        ("arm", "trunk"),
        ("arm", "plate"),  # fixed to the trunk: one body
        ("arm", "hand"),
        ("other", "trunk"),
        ("other", "plate"),
    }


def test_what_floats_is_adjacent_to_nothing():
    text = '<robot name="r">' + link("table") + link("cup") + joint("table", "cup", "floating")
    assert adjacent_links(load_model(text + "</robot>", base="fixed")) == set()
    assert adjacent_links(
        load_model(text.replace("floating", "continuous") + "</robot>", base="fixed")
    ) == {("cup", "table")}


def test_ankle_and_sole_are_adjacent_across_the_bush():
    model = load_model(HRP2_LIKE, xacro_arguments={"bush": True})
    rigid = load_model(HRP2_LIKE, xacro_arguments={"bush": False})
    assert adjacent_links(model) >= {
        pair for pair in adjacent_links(rigid) if all("LEG" in link for link in pair)
    }
