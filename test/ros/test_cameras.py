# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cameras over ROS: a user of Image, CameraInfo and TF finds things where they are."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image as PillowImage
from rclpy.qos import qos_profile_sensor_data
from ros.messages import nanoseconds
from scipy.spatial.transform import Rotation

import hrpsim
from hrpsim import RendererError
from hrpsim.ros.base.qos import LATCHED

ROBOT = """<robot name="r"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link>
<hrpsim reference="body">
<sensor name="eye" type="camera" width="320" height="240" fov="1.2" rate="50"
 images="color depth segmentation"><origin xyz="0.1 0 0.9" rpy="0 0.2 0.1"/></sensor>
<sensor name="near" type="camera" width="320" height="240" fov="1.2" rate="50" images="depth"
 depth_encoding="16UC1"><origin xyz="0.1 0 0.9" rpy="0 0.2 0.1"/></sensor>
</hrpsim></robot>"""
WORLD = """
ground: true
static: [{{shape: {{box: [0.4, 0.6, 0.8]}}, position: [2, 0.5, 0.4], name: box}}]
robots: [{{name: r, urdf: {}, position: [0, 0, 0.1]}}]
"""
IMAGE = "sensor_msgs/msg/Image"


@pytest.fixture
def files(tmp_path):
    try:
        hrpsim.World().render((0.0, 0.0, 1.0), width=16, height=16)
    except RendererError as error:
        pytest.skip(str(error))
    (tmp_path / "r.urdf").write_text(ROBOT)
    world = tmp_path / "world.yaml"
    world.write_text(WORLD.format(tmp_path / "r.urdf"))
    return world


def check_cloud(cloud, pose, color, label, metres, links):
    """Points, placed by TF, lie on the ground and on the box, and have the image's colours."""
    assert (cloud.header.frame_id, cloud.height, cloud.width) == ("eye_optical_frame", 240, 320)
    assert [(f.name, f.offset, f.datatype) for f in cloud.fields] == [
        *(("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("rgb", 12, 7))
    ]
    rows = np.frombuffer(cloud.data, dtype=np.uint8).reshape(240, 320, 16)
    np.testing.assert_array_equal(rows[:, :, 14:11:-1], color)
    placed = pose[0].apply(rows[:, :, :12].copy().view(np.float32).reshape(-1, 3)) + pose[1]
    ground, box = links.index(("world", "ground")), links.index(("world", "box"))
    seen = (label.ravel() == ground) & (metres.ravel() < 10.0)
    assert np.abs(placed[seen, 2]).max() < 1e-4 and seen.sum() > 10_000
    top = (label.ravel() == box) & (placed[:, 2] > 0.8 - 1e-4)
    assert top.any() and np.abs(placed[top, 2] - 0.8).max() < 1e-4


def test_a_box_is_found_where_it_is(simulations, files, listener):
    """Law: corners projected by CameraInfo and TF are the silhouette's, to half a pixel."""
    simulations.start(world_file=files, start_paused=True, step_count=20)
    quality = qos_profile_sensor_data
    colors = listener.collect(IMAGE, "eye/image_raw", quality)
    depths = listener.collect(IMAGE, "eye/depth/image_raw", quality)
    nears = listener.collect(IMAGE, "near/depth/image_raw", quality)
    labels = listener.collect(IMAGE, "eye/segmentation/image_raw", quality)
    clouds = listener.collect("sensor_msgs/msg/PointCloud2", "eye/points", quality)
    jpegs = listener.collect("sensor_msgs/msg/CompressedImage", "eye/image_raw/compressed", quality)
    infos = listener.collect("sensor_msgs/msg/CameraInfo", "eye/camera_info", quality)
    fixed = listener.collect("tf2_msgs/msg/TFMessage", "tf_static", LATCHED)
    assert listener.wait_for(lambda: listener.node.count_publishers("/eye/image_raw"))

    def arrived():
        assert listener.call("/hrpsim/step").success
        return colors and depths and nears and labels and infos and clouds and jpegs

    assert listener.wait_for(arrived)
    info, depth = infos[-1], depths[-1]
    assert depth.header.frame_id == info.header.frame_id == "eye_optical_frame"
    assert (colors[-1].encoding, depth.encoding, labels[-1].encoding) == (
        *("rgb8", "32FC1", "32SC1"),
    )
    assert len(colors[-1].data) == 240 * colors[-1].step == 240 * 320 * 3
    assert nanoseconds(depth) % 20_000_000 == 0

    assert listener.wait_for(lambda: fixed)
    frames = {t.child_frame_id: t for message in fixed for t in message.transforms}
    at = frames["eye_optical_frame"]
    assert at.header.frame_id == "body"
    t, r = at.transform.translation, at.transform.rotation
    R, p = Rotation.from_quat([r.x, r.y, r.z, r.w]), np.array([t.x, t.y, t.z + 0.1])
    corners = np.array([(x, y, 0.8) for x in (1.8, 2.2) for y in (0.2, 0.8)])
    u, v, w = np.array(info.k).reshape(3, 3) @ R.inv().apply(corners - p).T
    u, v = u / w, v / w
    world = hrpsim.load_world(files)
    box = world.link_names.index(("world", "box"))
    label = np.frombuffer(labels[-1].data, dtype=np.int32).reshape(240, 320)
    rows, columns = np.nonzero(label == box)
    assert abs(columns.min() - 0.5 - u.min()) <= 0.51
    assert abs(rows.min() - 0.5 - v.min()) <= 0.51
    metres = np.frombuffer(depth.data, dtype=np.float32).reshape(240, 320)
    row, column = round(v[0]) + 4, round(u[0]) - 4  # on the front face, below its upper edge
    ahead = R.inv().apply(corners - p)[0, 2]
    assert metres[row, column] == pytest.approx(ahead, abs=0.05)
    assert (nears[-1].encoding, nears[-1].step) == ("16UC1", 640)
    whole = np.frombuffer(nears[-1].data, dtype=np.uint16).reshape(240, 320)
    far = np.isinf(metres) | (metres > 65.535)
    assert far.any() and not whole[far].any()
    assert np.abs(whole[~far] - 1e3 * metres[~far]).max() < 0.51

    color = np.frombuffer(colors[-1].data, dtype=np.uint8).reshape(240, 320, 3)
    check_cloud(clouds[-1], (R, p), color, label, metres, world.link_names)
    assert jpegs[-1].format == "rgb8; jpeg compressed bgr8"
    decoded = np.asarray(PillowImage.open(BytesIO(bytes(jpegs[-1].data))))
    assert np.abs(decoded.astype(int) - color).mean() < 3.0
