# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Height scans and lidars: closed forms, schedule, latency, sweeps, noise, snapshots, refusals."""

import math
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from world.sensing_robot import free_box, room, turntable

import hrpsim
from hrpsim import HrpsimError, ModelError, ModelWarning

SCAN = '<sensor name="scan" type="height_scan" size="1.0 0.6" spacing="0.1" {}/>'
LIDAR = '<sensor name="lidar" type="lidar" {}/>'


def place(robot, position, rotvec=(0.0, 0.0, 0.0)):
    q = robot.q.copy()
    q[:3], q[3:7] = position, Rotation.from_rotvec(rotvec).as_quat()
    robot.q = q


def over_steps(settings="", rotvec=(0.0, 0.0, 0.0)):
    world = hrpsim.World(gravity=(0, 0, 0))
    world.add_ground()
    world.add_static(hrpsim.Box((2.0, 4.0, 0.3)), (1.23, 0.0, 0.15), name="stair")
    robot = world.add_robot(free_box(SCAN.format(settings)))
    place(robot, (0.1, 0.2, 0.9), rotvec)
    return world, robot


@pytest.mark.parametrize("alignment", ["yaw", "world", "base"])
def test_heights_of_a_stair(alignment):
    """Law: height = ground - frame along the up axis of the alignment, at the grid's points."""
    rotvec = np.array([0.1, -0.2, 0.7])
    _, robot = over_steps(f'alignment="{alignment}"', rotvec)
    heights = robot.sensors["scan"].heights
    assert heights.shape == (11, 7)
    R = Rotation.from_rotvec(rotvec).as_matrix()
    if alignment == "world":
        R = np.eye(3)
    elif alignment == "yaw":
        R = Rotation.from_rotvec([0, 0, math.atan2(R[1, 0], R[0, 0])]).as_matrix()
    x, y = np.meshgrid(0.1 * np.arange(-5, 6), 0.1 * np.arange(-3, 4), indexing="ij")
    start = np.stack([x, y, 0 * x], -1) @ R.T + (0.1, 0.2, 0.9)
    for surface, at in ((0.3, 0.23), (0.0, -np.inf)):
        ground = (surface - start[..., 2]) / R[2, 2]
        met = start + ground[..., None] * R[:, 2]
        clear = met[..., 0] > at + 1e-6 if surface else met[..., 0] < 0.23 - 0.1
        np.testing.assert_allclose(heights[clear], ground[clear], atol=1e-9)
        assert clear.any()


def test_heights_beneath_a_roof_and_of_what_is_above_the_frame():
    """Law: a roof over the frame hides nothing; what stands higher than the frame is seen."""
    world, robot = over_steps('height="2.0"')
    world.add_static(hrpsim.Box((9.0, 9.0, 0.1)), (0.0, 0.0, 1.5), name="roof")
    world.add_static(hrpsim.Box((0.2, 0.2, 1.2)), (0.4, 0.2, 0.6), name="post")
    heights = robot.sensors["scan"].heights
    np.testing.assert_allclose(heights[:3], -0.9, atol=1e-9)
    np.testing.assert_allclose(heights[8, 3], 0.3, atol=1e-9)
    np.testing.assert_allclose(heights[10, 0], -0.6, atol=1e-9)


def heights_at_a_wall(add_wall):
    """Return heights at x = 0 and at x = 0.6 of a scan 0.5 m over the ground, rays from 1.5 m."""
    world = hrpsim.World(gravity=(0, 0, 0))
    world.add_ground()
    add_wall(world)
    settings = '<sensor name="s" type="height_scan" size="1.2 0.2" spacing="0.2"/>'
    robot = world.add_robot(free_box(settings))
    robot.q = [0, 0, 0.5, 0, 0, 0, 1]
    return -robot.sensors["s"].measure()[[3, 6], 0]


def wall_of(kind, top):
    """Return a function that adds a wall of that height from x = 0.4 on."""
    if kind == "field":
        heights = np.zeros((81, 81))
        heights[44:, :] = top
        return lambda world: world.add_static(hrpsim.HeightField(heights, spacing=0.05))
    shape, middle = hrpsim.Box((1, 4, top)), (0.9, 0, top / 2)
    return lambda world: world.add_static(shape, middle)


@pytest.mark.parametrize("top", [0.9, 1.6, 3.0])
@pytest.mark.parametrize("kind", ["box", "field"])
def test_a_wall_higher_than_the_start_of_the_rays_is_seen(kind, top):
    """Law: a ray whose frame lies in a solid reads the top of that solid, however high."""
    np.testing.assert_allclose(heights_at_a_wall(wall_of(kind, top)), [-0.5, top - 0.5], atol=1e-6)


@pytest.mark.parametrize(
    "pieces, surface",
    [
        ([(0, 1), (1, 2)], 2.0),
        ([(1, 2), (0, 1)], 2.0),
        ([(0, 1), (0.9, 2)], 2.0),
        ([(0, 3), (0.7, 0.8)], 3.0),
        ([(-0.5, 3)], 3.0),
        ([(2, 2.2)], 0.0),
        ([(1, 1.2)], 0.0),
        ([(0, 0.7), (1.2, 1.4)], 0.7),
        ([(0, 0.2), (0.8, 3)], 0.2),
    ],
)
def test_walls_of_several_pieces_are_solid_and_roofs_are_not(pieces, surface):
    """Law: touching and overlapping pieces are one wall; what has air beneath it is a roof."""

    def add(world):
        for low, high in pieces:
            world.add_static(hrpsim.Box((1, 4, high - low)), (0.9, 0, (low + high) / 2))

    np.testing.assert_allclose(heights_at_a_wall(add), [-0.5, surface - 0.5], atol=1e-6)


def test_rings_and_nothing_in_reach():
    world = hrpsim.World(gravity=(0, 0, 0))
    robot = world.add_robot(
        free_box('<sensor name="s" type="height_scan" radii="0 0.5" points="8" max_range="3"/>')
    )
    assert robot.sensors["s"].heights.shape == (2, 8)
    assert np.isneginf(robot.sensors["s"].heights).all()
    assert np.isnan(robot.sensors["s"].points).all()


def test_ranges_in_a_room():
    """Law: range = 2 / max(|cos|, |sin|) in the middle of a square room of 4 m."""
    world = hrpsim.World(gravity=(0, 0, 0))
    room(world)
    lidar = LIDAR.format('columns="73" azimuth="-3 3" rings="3" elevation="-0.5 0.5"')
    sensor = world.add_robot(free_box(lidar)).sensors["lidar"]
    azimuth, elevation = np.linspace(-3, 3, 73), np.linspace(-0.5, 0.5, 3)[:, None]
    expected = 2.0 / np.maximum(abs(np.cos(azimuth)), abs(np.sin(azimuth))) / np.cos(elevation)
    np.testing.assert_allclose(sensor.ranges, expected, atol=1e-9)
    points = sensor.points_in_world.reshape(3, 73, 3)
    np.testing.assert_allclose(np.abs(points[..., :2]).max(axis=-1), 2.0, atol=1e-9)
    np.testing.assert_array_equal(sensor.times, 0.0)


def test_own_links_are_passed_unless_asked_for():
    ranges = []
    for own in ("false", "true"):
        world = hrpsim.World(gravity=(0, 0, 0))
        room(world)
        lidar = LIDAR.format(f'columns="5" azimuth="-1 1" min_range="0" see_own="{own}"')
        ranges.append(world.add_robot(free_box(lidar)).sensors["lidar"].ranges[0, 2])
    np.testing.assert_allclose(ranges, [2.0, 0.2], atol=1e-12)


def test_too_near_and_too_far():
    """Law: -inf below the least range, inf beyond the greatest (REP 117)."""
    world = hrpsim.World(gravity=(0, 0, 0))
    room(world)
    settings = 'columns="2" azimuth="0 0.7853981633974483" min_range="2.1" max_range="2.5"'
    ranges = world.add_robot(free_box(LIDAR.format(settings))).sensors["lidar"].ranges
    np.testing.assert_array_equal(ranges, [[-np.inf, np.inf]])


def test_a_sweep_from_a_turning_robot_is_straight_after_deskewing():
    """Law: each point, placed by the frame's pose at its own time, is on a wall."""
    world = hrpsim.World(gravity=(0, 0, 0))
    room(world)
    settings = 'columns="500" azimuth="-3.1 3.1" rate="10" sweep="true" latency="0.02"'
    robot = world.add_robot(turntable(LIDAR.format(settings)))
    robot.v = [4.0]
    robot.command(velocities=[4.0])
    sensor, poses = robot.sensors["lidar"], []
    for _ in range(325):
        poses.append(robot.link_pose("body"))
        world.step()
    assert sensor.stamp == pytest.approx(0.2)
    steps = np.rint((sensor.stamp + sensor.times.ravel()) / 1e-3).astype(int)
    assert steps[0] == 200 and 297 <= steps[-1] < 300 and len(set(steps)) == 100
    p, turns = np.array([poses[k][0] for k in steps]), [poses[k][1] for k in steps]
    placed = Rotation.from_quat(turns).apply(np.array(sensor.points)) + p
    np.testing.assert_allclose(np.abs(placed[:, :2]).max(axis=1), 2.0, atol=1e-9)
    skewed = Rotation.from_quat(poses[200][1]).apply(np.array(sensor.points))
    assert np.abs(np.abs(skewed[:, :2]).max(axis=1) - 2.0).max() > 0.2


def test_rate_latency_and_one_call_of_many_steps():
    """Law: samples begin at multiples of 1 / rate; calls of `step` may be as long as wanted."""
    stamps = []
    for chunk in (1, 7, 250):
        world, robot = over_steps('rate="30" latency="0.01"')
        place(robot, (0.1, 0.2, 0.9))
        robot.v = [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
        sensor = robot.sensors["scan"]
        assert math.isnan(sensor.stamp) and np.isnan(sensor.heights).all()
        for _ in range(250 // chunk):
            world.step(chunk)
        world.step(250 % chunk)
        stamps.append((sensor.stamp, sensor.heights.tobytes()))
    assert stamps[0] == stamps[1] == stamps[2]
    assert stamps[0][0] == pytest.approx(math.ceil(7 / 30 * 1000) * 1e-3)


@pytest.mark.parametrize("rate", [30.0, 70.0, 999.0, 1000.0])
def test_sweeps_follow_each_other_at_any_rate(rate):
    """Law: sweep k begins at the first step not before k / rate; none is left out."""
    world = hrpsim.World(gravity=(0, 0, 0))
    room(world)
    settings = f'columns="500" azimuth="-3 3" rate="{rate}" sweep="true"'
    sensor = world.add_robot(free_box(LIDAR.format(settings))).sensors["lidar"]
    stamps = {sensor.stamp}
    for _ in range(150):
        world.step()
        stamps.add(sensor.stamp)
    starts = [math.ceil(k / rate * 1000 - 1e-6) * 1e-3 for k in range(int(0.15 * rate))]
    found = sorted(s for s in stamps if not math.isnan(s))
    np.testing.assert_allclose(found[: len(starts)], starts[: len(found)], atol=1e-9)
    assert len(found) >= len(starts) - 1


def test_noise_and_dropouts_by_seed():
    """Law: white noise of the given deviation; the same seed gives the same bits."""
    found = []
    for seed in (1, 1, 2):
        world = hrpsim.World(gravity=(0, 0, 0))
        room(world)
        settings = f'columns="2000" azimuth="-3 3" noise="0.02" dropout="0.1" seed="{seed}"'
        sensor = world.add_robot(free_box(LIDAR.format(settings))).sensors["lidar"]
        found.append(sensor.ranges)
        errors = (sensor.ranges - sensor.measure())[np.isfinite(sensor.ranges)]
        assert np.std(errors) == pytest.approx(0.02, rel=0.06)
        assert abs(np.mean(errors)) < 0.002
        assert np.isposinf(sensor.ranges).mean() == pytest.approx(0.1, abs=0.03)
        world.step(1)
        assert not np.array_equal(sensor.ranges, found[-1])
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_snapshots_copies_and_resets_continue_bit_for_bit():
    settings = 'columns="200" azimuth="-3 3" rate="20" sweep="true" noise="0.01" latency="0.003"'
    world = hrpsim.World(gravity=(0, 0, 0))
    room(world)
    robot = world.add_robot(turntable(LIDAR.format(settings)))
    robot.command(velocities=[3.0])
    world.step(120)
    start, copy = world.snapshot(), world.copy()
    at_start = robot.sensors["lidar"].ranges
    world.step(77)
    first = robot.sensors["lidar"].ranges
    world.restore(start)
    np.testing.assert_array_equal(robot.sensors["lidar"].ranges, at_start)
    world.step(77)
    copy.step(77)
    np.testing.assert_array_equal(robot.sensors["lidar"].ranges, first)
    np.testing.assert_array_equal(copy.robots["r"].sensors["lidar"].ranges, first)
    world.reset()
    assert math.isnan(robot.sensors["lidar"].stamp)


def test_checkpoints_and_pickles_continue_bit_for_bit():
    sensors = LIDAR.format('columns="200" azimuth="-3 3" rate="20" sweep="true" noise="0.01"')
    sensors += '<sensor name="pad" type="contact" rate="30" latency="0.01"/>'
    world = hrpsim.World()
    room(world)
    world.add_ground()
    robot = world.add_robot(free_box(sensors + SCAN.format('rate="40"')))
    place(robot, (0.1, 0.2, 0.4))

    def readings(of):
        views = of.robots["r"].sensors
        scans = [views[name].ranges.tobytes() for name in ("lidar", "scan")]
        return [*scans, views["pad"].wrench.tobytes(), views["pad"].air_time]

    world.step(130)
    checkpoint, pickled = hrpsim.Checkpoint(world), pickle.dumps(world)
    world.step(177)
    expected = readings(world)
    checkpoint.restore()
    world.step(177)
    assert readings(world) == expected
    other = pickle.loads(pickled)
    other.step(177)
    assert readings(other) == expected


def test_a_sensor_turned_off_measures_nothing_until_its_next_time():
    world, robot = over_steps('rate="100"')
    sensor = robot.sensors["scan"]
    world.step(5)
    sensor.enabled = False
    world.step(20)
    assert sensor.stamp == 0.0
    sensor.enabled = True
    world.step(1)
    assert sensor.stamp == 0.0
    world.step(5)
    assert sensor.stamp == pytest.approx(0.03)


def test_a_rosette_fills_its_field_of_view_and_does_not_repeat():
    world = hrpsim.World(gravity=(0, 0, 0))
    room(world)
    settings = 'pattern="rosette" columns="400" azimuth="-0.6 0.6" elevation="-0.4 0.4" rate="100"'
    sensor = world.add_robot(free_box(LIDAR.format(settings))).sensors["lidar"]
    samples = []
    for _ in range(4):
        samples.append(sensor.points)
        world.step(10)
    points = np.concatenate(samples)
    azimuth = np.arctan2(points[:, 1], points[:, 0])
    assert np.abs(azimuth).max() <= 0.6 and np.abs(azimuth).max() > 0.55
    assert len(np.unique(np.round(points, 9), axis=0)) > 0.99 * len(points)


def test_a_lidar_declared_for_gazebo():
    """Law: the same settings, declared either way, measure the same; other elements are listed."""
    gazebo = """<gazebo reference="body"><sensor name="lidar" type="gpu_lidar">
    <pose>0.1 0 0.05 0 0 0.3</pose><update_rate>20</update_rate><always_on>1</always_on>
    <topic>scan</topic>
    <lidar><scan><horizontal><samples>90</samples><resolution>1</resolution>
    <min_angle>-1.5</min_angle><max_angle>1.5</max_angle></horizontal>
    <vertical><samples>4</samples><min_angle>-0.2</min_angle><max_angle>0.2</max_angle></vertical>
    </scan><range><min>0.1</min><max>12</max><resolution>0.01</resolution></range>
    <noise><type>gaussian</type><mean>0.0</mean><stddev>0.01</stddev></noise></lidar>
    </sensor><sensor name="eye" type="navsat"/></gazebo>"""
    with pytest.warns(ModelWarning) as warned:
        theirs = free_box("", gazebo)
    text = str(warned[0].message)
    assert "eye" in text and "<resolution> of <range>" in text
    assert not any(f"<{one}>" in text for one in ("resolution> of <horizontal", "mean", "topic"))
    assert theirs.sampled_sensors[0].topic == "scan"
    ours = free_box(
        '<sensor name="lidar" type="lidar" columns="90" azimuth="-1.5 1.5" rings="4"'
        ' elevation="-0.2 0.2" min_range="0.1" max_range="12" noise="0.01" rate="20">'
        '<origin xyz="0.1 0 0.05" rpy="0 0 0.3"/></sensor>'
    )
    ranges = []
    for model in (theirs, ours):
        world = hrpsim.World(gravity=(0, 0, 0))
        room(world)
        ranges.append(world.add_robot(model).sensors["lidar"].ranges)
    assert ranges[0].shape == (4, 90)
    np.testing.assert_array_equal(*ranges)


@pytest.mark.parametrize(
    "settings, text",
    [
        ('type="lidar" azimuth="-4 4"', "at most 360 degrees, got 458"),
        ('type="lidar" azimuth="1 -1"', "the smallest first"),
        ('type="lidar" elevation="0 1.8"', "-90 to 90 degrees"),
        ('type="lidar" columns="0"', "columns must be at least 1, got 0"),
        ('type="lidar" columns="10.5"', "columns='10.5' must be a whole"),
        ('type="lidar" columns="1000000" rings="9" elevation="0 1"', "SENSOR_RAYS"),
        ('type="lidar" sweep="true"', "sweep lasts 1 / rate"),
        ('type="lidar" sweep="yes"', "must be true or false"),
        ('type="lidar" noise="-1"', "noise must not be negative"),
        ('type="lidar" dropout="2"', "dropout must be from 0 to 1"),
        ('type="lidar" max_range="x"', "must be numbers"),
        ('type="lidar" max_range="nan"', "must be finite"),
        ('type="lidar" spacing="1"', "spacing"),
        ('type="height_scan" spacing="0"', "spacing must be positive"),
        ('type="height_scan" alignment="yawn"', "Did you mean 'yaw'"),
        ('type="height_scan" size="1"', "size must be two numbers"),
        ('type="contact" cell="0.01"', "needs a size"),
        ('type="lidars"', "Did you mean 'lidar'"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, text):
    with pytest.raises(ModelError, match=text):
        free_box(f'<sensor name="s" {settings}/>')


def test_a_rate_above_that_of_the_steps_is_refused():
    model = free_box(LIDAR.format('rate="2000"'))
    with pytest.raises(HrpsimError, match=r"the rate of 2000 Hz.* 1000 Hz. Lower the rate"):
        hrpsim.World().add_robot(model)


def test_sensors_of_a_world_file(tmp_path):
    (tmp_path / "r.urdf").write_text(free_box("").urdf)
    file = tmp_path / "world.yaml"
    text = """
ground: true
robots:
  - urdf: r.urdf
    position: [0, 0, 0.5]
    sensors:
      - {name: scan, type: height_scan, link: body, position: [0, 0, 0.1], size: [0.2, 0.2],
         spacing: 0.1, rate: 50}
"""
    file.write_text(text)
    world = hrpsim.load_world(file)
    np.testing.assert_allclose(world.robots["r"].sensors["scan"].heights, -0.6, atol=1e-9)
    file.write_text(text.replace("link: body, ", ""))
    with pytest.raises(HrpsimError, match=r"robots\[0\].sensors\[0\]: missing entry: link"):
        hrpsim.load_world(file)
    file.write_text(text.replace("link: body", "link: bodi"))
    with pytest.raises(HrpsimError, match="Did you mean 'body'"):
        hrpsim.load_world(file)
    file.write_text(text.replace("rate: 50", "rates: 50"))
    with pytest.raises(HrpsimError, match="Did you mean 'rate'"):
        hrpsim.load_world(file)


def test_scans_of_a_batch_are_those_of_its_worlds():
    world, _ = over_steps('rate="100"')
    with hrpsim.Batch(world, 5, threads=2) as batch:
        for k, one in enumerate(batch.worlds):
            place(one.robots["r"], (0.1 * k, 0.0, 0.9))
        ranges = batch.scan("r", "scan")
        assert ranges.shape == (5, 11, 7)
        alone = [one.robots["r"].sensors["scan"].measure() for one in batch.worlds]
        np.testing.assert_array_equal(ranges, alone)
        batch.step(25)
        assert {one.robots["r"].sensors["scan"].stamp for one in batch.worlds} == {0.02}
        with pytest.raises(HrpsimError, match="Did you mean 'scan'"):
            batch.scan("r", "scam")
