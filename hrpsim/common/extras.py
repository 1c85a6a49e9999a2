# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Packages that only some features need, and the extra of pip that installs each."""

from hrpsim.common.errors import HrpsimError

EXTRAS = {
    "PIL": "camera",
    "backports": "record",
    "coal": "geometry",
    "dask": "sweep",
    "distributed": "sweep",
    "fcl": "fcl",
    "gymnasium": "learning",
    "h5py": "fclib",
    "imageio": "camera",
    "imageio_ffmpeg": "camera",
    "lz4": "record",
    "matplotlib": "plot",
    "mujoco": "mjcf",
    "onnxruntime": "onnx",
    "pxr": "usd",
    "rosbags": "record",
    "torch": "torch",
    "viser": "viewer",
    "websockets": "viewer",
    "xarray": "sweep",
    "zarr": "sweep",
}
"""The extra by the name that is imported. Packages of ROS 2 come with the extra `ros`."""

EXTRA_PURPOSES = {
    "record": "bags of ROS 2 and .mcap files",
    "plot": "figures of results",
    "viewer": "the world in a browser",
    "camera": "cameras, pictures and films",
    "sweep": "hrpsim sweep",
    "learning": "environments of gymnasium",
    "mjcf": "MJCF files",
    "usd": "USD stages",
    "onnx": "policies in ONNX files",
    "torch": "policies in TorchScript files",
    "geometry": "distances of links by coal",
    "fcl": "the same by FCL",
    "fclib": "files of contact problems",
}
"""What users need each extra for, besides `ros`."""

EXTRA_PACKAGES = {
    extra: tuple(sorted(name for name, own in EXTRAS.items() if own == extra))
    for extra in EXTRA_PURPOSES
}
EXTRA_PACKAGES["camera"] += ("mujoco",)
EXTRA_PACKAGES["sweep"] += ("matplotlib",)

_OF_ROS = ("rclpy", "rcl_interfaces", "builtin_interfaces", "std_srvs")


class MissingPackageError(HrpsimError, ImportError):
    """A feature needs a package that is not installed. The message names the extra to install."""


def missing_package(purpose: str, error: ModuleNotFoundError) -> ImportError:
    """Return the exception to raise for a module that is missing for `purpose`.

    The exception is a MissingPackageError if an extra of hrpsim installs the module. Otherwise the
    exception is `error` itself.
    """
    package = (error.name or "").partition(".")[0]
    if package in _OF_ROS or package.endswith("_msgs"):
        remedy = "pip install 'hrpsim[ros]', or source a ROS 2"
    elif package in EXTRAS:
        remedy = f"pip install 'hrpsim[{EXTRAS[package]}]'"
    else:
        return error
    return MissingPackageError(f"{purpose} needs {package} ({error}): {remedy}")
