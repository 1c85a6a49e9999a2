# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A quadruped with the joints of Unitree's Go2: a box on four legs of 0.2 m and 0.2 m."""

LEGS = {"FR": (0.2, -0.15), "FL": (0.2, 0.15), "RR": (-0.2, -0.15), "RL": (-0.2, 0.15)}
POSTURE = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
HEIGHT = 0.30  # of the base, in this posture [m]
_IMU = '<hrpsim reference="base"><sensor name="imu" type="imu"/></hrpsim>'


def _link(name, mass, z, shape):
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/>{inertia}'
        f'</inertial><collision><origin xyz="0 0 {2 * z}"/><geometry>{shape}</geometry>'
        "</collision></link>"
    )


def _joint(name, parent, child, xyz, axis):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" velocity="30" effort="40"/></joint>'
    )


def _leg(leg, x, y):
    small = '<sphere radius="0.01"/>'
    return "".join(
        [
            _link(f"{leg}_hip", 0.6, 0.0, small),
            _link(f"{leg}_thigh", 1.0, -0.1, small),
            _link(f"{leg}_calf", 0.2, -0.1, '<sphere radius="0.02"/>'),
            _joint(f"{leg}_hip_joint", "base", f"{leg}_hip", f"{x} {y} 0", "1 0 0"),
            _joint(f"{leg}_thigh_joint", f"{leg}_hip", f"{leg}_thigh", "0 0 0", "0 1 0"),
            _joint(f"{leg}_calf_joint", f"{leg}_thigh", f"{leg}_calf", "0 0 -0.2", "0 1 0"),
        ]
    )


def quadruped(imu=True):
    """Return the URDF; without an IMU if `imu` is False."""
    base = _link("base", 7.0, 0.0, '<box size="0.4 0.1 0.1"/>')
    legs = "".join(_leg(leg, x, y) for leg, (x, y) in LEGS.items())
    return f'<robot name="go2">{base}{legs}{_IMU if imu else ""}</robot>'


def write_world(folder, imu=True):
    """Write a world with the quadruped, standing, on a floor; return the path."""
    (folder / "go2.urdf").write_text(quadruped(imu))
    joints = "".join(
        f"      {leg}_{part}_joint: {value}\n" for leg in LEGS for part, value in POSTURE.items()
    )
    path = folder / "world.yaml"
    path.write_text(
        "world: {time_step: 0.001}\nground: {}\nrobots:\n  - name: go2\n    urdf: go2.urdf\n"
        f"    position: [0, 0, {HEIGHT}]\n    joints:\n{joints}"
    )
    return path
