"""The topic contact_markers: forces as arrows, friction as cones, for RViz."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from geometry_msgs.msg import Point
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from hrpsim.ros import qos
from hrpsim.ros.stamps import Stamp
from hrpsim.world.results import Contact

_CONE_SLANT = 0.06  # length of a cone's side [m]
_CONE_FACETS = 12
_ARROW = (0.008, 0.016, 0.0)  # diameters of shaft and head; the head's length is RViz's choice [m]
_ARROW_COLOR = ColorRGBA(r=1.0, g=0.3, b=0.1, a=1.0)
_CONE_COLOR = ColorRGBA(r=0.2, g=0.6, b=1.0, a=0.35)
_LEAST_FORCE = 1e-3  # [N]; an arrow needs a direction


class ContactMarkers:
    """Publishes the contacts of the last step, in the world's axes, if anybody listens.

    Namespace "force": an arrow for each contact point from where the force acts, `force_scale`
    [m/N] long. Namespace "friction": one marker with a cone about each normal, as wide as static
    friction allows. Both show what acts on the first of the two bodies, or on the other one where
    the first is the world's.
    """

    def __init__(self, node: Node, world, frame: str, force_scale: float):
        self._world = world
        self._frame = frame
        self._force_scale = force_scale
        self._shown = 0  # arrows in the last message
        self._publisher = node.create_publisher(MarkerArray, "contact_markers", qos.REPORT)

    def publish(self, stamp: Stamp) -> None:
        """Publish the markers of the present contacts, and take away those of points that went."""
        if self._publisher.get_subscription_count() == 0:
            return
        contacts = [_on_the_moving_body(contact) for contact in self._world.contacts]
        time = stamp.to_message()
        message = MarkerArray()
        for number, contact in enumerate(contacts):
            marker = self._marker("force", number, Marker.ARROW, _ARROW_COLOR, time)
            if np.linalg.norm(contact.force) < _LEAST_FORCE:
                marker.action = Marker.DELETE
            else:
                tip = contact.point + self._force_scale * contact.force
                marker.points = [_point(contact.point), _point(tip)]
                marker.scale.x, marker.scale.y, marker.scale.z = _ARROW
            message.markers.append(marker)
        for number in range(len(contacts), self._shown):
            marker = self._marker("force", number, Marker.ARROW, _ARROW_COLOR, time)
            marker.action = Marker.DELETE
            message.markers.append(marker)
        self._shown = len(contacts)
        message.markers.append(self._cones(contacts, time))
        self._publisher.publish(message)

    def _cones(self, contacts, time) -> Marker:
        marker = self._marker("friction", 0, Marker.TRIANGLE_LIST, _CONE_COLOR, time)
        marker.scale.x = marker.scale.y = marker.scale.z = 1.0
        for contact, friction in zip(contacts, self._frictions()):
            rim = cone_rim(contact.point, contact.normal, friction)
            apex = _point(contact.point)
            corners = [_point(corner) for corner in rim]
            for k, corner in enumerate(corners):
                marker.points += [apex, corner, corners[k - 1]]
        if not marker.points:
            marker.action = Marker.DELETE
        return marker

    def _frictions(self) -> np.ndarray:
        """Return the coefficient of static friction of each contact."""
        scene = self._world.scene
        records = scene.collision.contacts[: int(scene.tally["contact_count"][0])]
        material = scene.collision.shapes["material"]
        pairs = material[records["shape_a"]], material[records["shape_b"]]
        return scene.materials["static"][pairs]

    def _marker(self, name: str, number: int, kind: int, color: ColorRGBA, time) -> Marker:
        marker = Marker(ns=name, id=number, type=kind, action=Marker.ADD, color=color)
        marker.header.frame_id = self._frame
        marker.header.stamp = time
        marker.pose.orientation.w = 1.0
        return marker


def _on_the_moving_body(contact: Contact) -> Contact:
    if contact.a[0] != "world":
        return contact
    return replace(contact, a=contact.b, b=contact.a, normal=-contact.normal, force=-contact.force)


def cone_rim(apex, normal, friction: float) -> np.ndarray:
    """Return points (k, 3) [m] on the friction cone: forces on it slip with that coefficient."""
    x = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    x /= np.linalg.norm(x)
    y = np.cross(normal, x)
    angles = np.linspace(0.0, 2.0 * math.pi, _CONE_FACETS, endpoint=False)[:, None]
    half = math.atan(friction)
    outward = np.cos(angles) * x + np.sin(angles) * y
    return apex + _CONE_SLANT * (math.cos(half) * normal + math.sin(half) * outward)


def _point(p) -> Point:
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))
