# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Nothing that an MJCF says is lost in silence: each word changes the world, or is named."""

import copy
import re
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from model.prints import print_of

from hrpsim import ModelError, ModelWarning, load_world
from hrpsim.model.readers.mjcf import compile_child, read
from hrpsim.model.visuals import visuals_of_model

pytest.importorskip("mujoco", "3.8")

MJCF = """<mujoco model="rich"><compiler angle="radian"/>
<option timestep="0.001" gravity="0.1 0.2 -9" integrator="RK4" density="1" viscosity="1"
 wind="1 0 0"><flag gravity="enable" actuation="disable"/></option>
<asset><mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.1 0.1"/>
 <hfield name="hills" nrow="2" ncol="2" size="1 1 0.3 0.1" elevation="0 1 0.2 0.4"/>
 <material name="paint" rgba="0.1 0.2 0.3 1"/></asset>
<worldbody><geom name="floor" type="plane" size="5 5 1" pos="0 0 -1" friction="0.7 0.005 0.0001"/>
 <geom name="hill" type="hfield" hfield="hills" pos="9 0 0" contype="2"/>
 <light pos="0 0 3"/><camera pos="1 0 0"/>
 <body name="a" pos="0 0 2" quat="1 0.1 0 0" gravcomp="0.2">
  <joint name="j" type="hinge" axis="0 1 0" pos="0.01 0 0" range="-1 1" stiffness="2"
   springref="0.2" damping="0.3" frictionloss="0.1" armature="0.01" ref="0.1" margin="0.01"
   actuatorfrcrange="-50 50" actuatorgravcomp="true" solreflimit="0.03 1"
   solimplimit="0.8 0.95 0.001 0.5 2" solreffriction="0.03 1"
   solimpfriction="0.8 0.95 0.001 0.5 2"/>
  <inertial mass="1.5" pos="0 0 0.1" quat="1 0 0.1 0" diaginertia="0.1 0.11 0.12"/>
  <geom name="g" type="capsule" size="0.03 0.2" pos="0.1 0 0" quat="1 0 0 0.2" condim="4"
   friction="0.6 0.005 0.0001" contype="2" conaffinity="3" rgba="0.5 0.4 0.3 1" priority="1"
   solref="0.03 1" solimp="0.8 0.95 0.001 0.5 2" margin="0.01" gap="0.005"
   fluidshape="ellipsoid"/>
  <geom name="seen" type="box" size="0.01 0.02 0.03" contype="0" conaffinity="0"
   material="paint"/>
  <site name="s" pos="0.1 0.2 0.3" quat="1 0 0 0.3"/>
  <body name="b" pos="0.4 0 0" euler="0.1 0 0"><joint name="k" type="slide" axis="1 0 0"
    range="-0.5 0.5"/><geom type="mesh" mesh="tetra" mass="0.7"/>
   <geom type="ellipsoid" size="0.05 0.06 0.07" density="500"/></body></body>
 <body name="c" pos="2 0 1"><freejoint name="f"/><geom type="cylinder" size="0.1 0.2" mass="2"/>
 </body>
 <body name="d" pos="4 0 1"><joint name="l" axis="0 1 1"/><joint name="o" axis="1 0 0"/>
  <geom name="dd" size="0.1" conaffinity="2"/></body>
 <body name="mo" mocap="true" pos="0 1 1" quat="1 0 0 0.1"/></worldbody>
<contact><exclude body1="a" body2="c"/><pair geom1="dd" geom2="floor" friction="0.9"/></contact>
<equality><weld name="w" body1="mo" body2="c" relpose="0 0 0.1 1 0 0 0" active="true"
  solref="0.03 1" solimp="0.8 0.95 0.001 0.5 2"/>
 <joint name="q" joint1="k" joint2="j" polycoef="0.1 0.3 0 0 0"/>
 <connect name="off" body1="d" anchor="0.1 0 0" active="false"/></equality>
<tendon><fixed name="cord" stiffness="3" damping="1" frictionloss="1"><joint joint="j" coef="2"/>
 </fixed></tendon>
<actuator><position name="p" joint="j" kp="20" kv="1" gear="2" ctrlrange="-2 2" forcerange="-9 9"
  timeconst="0.2"/>
 <motor name="m" joint="k" gear="2" ctrlrange="-1 1"/>
 <general name="lag" joint="l" dyntype="filter" dynprm="0.1" gainprm="3" biastype="affine"
  biasprm="0 -1 0" actearly="true" actlimited="true" actrange="-1 1"/>
 <velocity name="second" joint="l" kv="0.3"/>
 <intvelocity name="drift" joint="o" kp="7" kv="0.2" actrange="-2 1"/></actuator>
<sensor><gyro name="gyro" site="s" noise="0.1" cutoff="1"/><force name="force" site="s"/>
 <jointpos name="angle" joint="j"/></sensor>
<keyframe><key name="home" qpos="0.2 0.1 2 0 1 1 0 0 0 0.3 0" qvel="1 0 0 0 0 0 0 0 0 0"
 ctrl="0.1 0.2 0.3 0 0" act="0 0.1 0" mpos="0 1 2"/></keyframe></mujoco>"""
# Words that say nothing of how anything moves or is measured: names, MuJoCo's solver, pictures.
LABELS = {
    *(("*", "name"), ("mujoco", "model"), ("geom", "rgba"), ("compiler", "angle")),
    *(("light", "pos"), ("camera", "pos"), ("fixed", "name")),
    # These are named as a whole: an actuator, a pair, a tendon.
    *(("general", "dyntype"), ("pair", "geom1"), ("pair", "geom2"), ("joint", "coef")),
}
# Values with which MuJoCo's model is the same, or the same pairs of geoms collide.
SAME = {("geom", "size", "5 5 1"), ("geom", "contype", "2"), ("geom", "conaffinity", "2")}
SAME |= {("flag", "gravity", "enable"), ("weld", "active", "true")}
OTHER = {
    **{"integrator": "implicit", "type": "sphere", "active": "false", "gravity": "disable"},
    **{"mocap": "false", "condim": "1", "contype": "4", "conaffinity": "4", "priority": "2"},
    **{"actuatorgravcomp": "false", "nrow": "1", "ncol": "4", "fluidshape": "none"},
    **{"actuation": "enable", "biastype": "none"},
}


def other(word, text):
    """Return another value of a word."""
    try:
        numbers = [float(number) for number in text.split()]
    except ValueError:
        return OTHER.get(word, f"{text}x")
    return OTHER.get(word) or " ".join(repr(0.9 * number + 0.05) for number in numbers)


def mutants(root):
    """Yield (words that a note may have, description, changed copy) of each change of a value."""
    for index, element in enumerate(root.iter()):
        for attribute, value in element.attrib.items():
            if {(element.tag, attribute), ("*", attribute)} & LABELS:
                continue
            for changed in ("", other(attribute, value)):
                copied = copy.deepcopy(root)
                it = list(copied.iter())[index]
                if changed:
                    it.set(attribute, changed)
                else:
                    del it.attrib[attribute]
                if (element.tag, attribute, value) not in SAME:
                    what = f"{element.tag} {element.get('name', '')} {attribute}={changed!r}"
                    yield (attribute, element.get("name", "-")), what, copied


@pytest.fixture
def compiled_here(monkeypatch):
    """Compile in this process: the file is ours."""

    def compile_it(source, output, label):
        monkeypatch.setattr(sys, "argv", ["", str(source), str(output), "600"])
        status = compile_child.main()
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        if status:
            raise ModelError(Path(f"{output}.error").read_text())

    monkeypatch.setattr(compile_child.resource, "setrlimit", lambda *limits: None)
    monkeypatch.setattr(read, "_compile", compile_it)


def seen(path, text):
    """Return the print of an MJCF's world, and what is named; or why it is refused."""
    path.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        try:
            world = load_world(path)
        except ModelError as error:
            return str(error), ""
    named = " ".join(str(one.message) for one in caught)
    records = world.scene.connections
    parts = [
        *((robot.model, visuals_of_model(robot.model), robot.q) for robot in world.robots.values()),
        *(world.fixed_shapes, world.time_step, np.array(world.gravity), world.integrator),
        world.scene.materials,
        [
            (one.a, one.b, one.kind, records[one.index].tolist())
            for one in world.connections.values()
        ],
        [(one.name, one.position, one.orientation) for one in world.frames.values()],
        np.array(world.scene.collision.excluded),
    ]
    return print_of(parts), named


@pytest.mark.long
def test_each_value_changes_the_world_or_is_named(tmp_path, compiled_here):
    """Law: without a value, or with another one, an MJCF gives another world, or a note has the
    word or the name of its element."""
    path, silent = tmp_path / "m.xml", []
    original, named = seen(path, MJCF)
    words = set(re.findall(r"\w+", named))
    for hints, what, changed in mutants(etree.fromstring(MJCF)):
        found, notes = seen(path, etree.tostring(changed, encoding="unicode"))
        if found == original and notes == named and not words.intersection(hints):
            silent.append(what)
    assert not silent, "; ".join(silent)
