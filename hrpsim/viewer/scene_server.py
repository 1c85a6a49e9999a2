# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A viser server with an empty scene, which only this machine can reach."""

from __future__ import annotations

import secrets
import sys
from contextlib import redirect_stdout
from io import StringIO

import numpy as np

from hrpsim.common.errors import require_packages
from hrpsim.viewer.panels.signals import middle_of

LOOPBACK = "127.0.0.1"
_NEEDED = ("viser",), "pip install 'hrpsim[viewer]'"
_CAMERA = (2.2, 2.4, 0.8)  # camera relative to the middle, for objects within 1 m [m]
_FIELD_OF_VIEW = 0.85  # vertical field of view [rad]


def require_viser(purpose: str) -> None:
    """Raise HrpsimError if viser is not installed.

    `purpose` is the feature that needs viser, for the error.
    """
    require_packages(purpose, *_NEEDED)


def start_server(purpose: str):
    """Start a viser server with z up, on an address hidden from other machines.

    Args:
        purpose: the feature that needs the server, for the error.

    Raises:
        HrpsimError: viser is not installed.
    """
    require_viser(purpose)
    import viser

    with redirect_stdout(StringIO()):  # it would print an address that is not for users
        server = viser.ViserServer(host=_hidden_address(), port=0, label="hrpsim", verbose=False)
    # The page must not be accessible through a public relay, by the button or otherwise.
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    server.gui.configure_theme(show_share_button=False, show_logo=False)
    server.scene.set_up_direction("+z")
    server.scene.configure_default_lights(cast_shadow=False)
    server.scene.world_axes.visible = False
    return server


def stop_server(server) -> None:
    """Stop the server without a printed message, which would corrupt printed JSON."""
    with redirect_stdout(StringIO()):
        server.stop()


def aim_camera(server, world, follow: str = "") -> None:
    """Set the initial camera of each page to show all moving bodies, or the robot `follow`."""
    middle, reach = middle_of(world, follow)
    server.initial_camera.look_at = middle
    server.initial_camera.position = middle + reach * np.array(_CAMERA)
    server.initial_camera.fov = _FIELD_OF_VIEW


def _hidden_address() -> str:
    """Return a random loopback address that other machines and web pages cannot find.

    Linux has 2**24 loopback addresses. Other systems have only one.
    """
    if sys.platform != "linux":
        return LOOPBACK
    return "127." + ".".join(str(1 + secrets.randbelow(254)) for _ in range(3))
