# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The page of a standing robot in a real browser, headless chromium, used as a person uses it."""

import time

import numpy as np
import pytest
from viewer.page import SIZE, Shown, in_browser

from hrpsim import load_world, share_path
from hrpsim.viewer import Viewer

pytestmark = in_browser


@pytest.fixture(scope="module")
def standing():
    shown = Shown(Viewer(load_world(share_path("config/stand.yaml")), port=0))
    yield shown
    shown.close()


def hide_robot(shown, hidden):
    def deed():
        for _, _, node in shown.viewer.drawing.parts:
            node.visible = not hidden

    shown.viewer.controls.request(deed)


def steady_picture(shown):
    """The page once it stands still: it fades in first, and notices of the browser come late."""
    last = shown.page.picture()

    def still():
        nonlocal last
        before = last
        time.sleep(2.0)
        shown.page.wait_for_frames(5)
        last = shown.page.picture()
        return shown.changed(before, last).mean() < 1e-4

    shown.wait_for(still)
    return last


@pytest.mark.long
def test_pause_stops_time_and_play_lets_it_go_on(standing):
    standing.press("Pause", lambda: "paused" in standing.page.text())
    standing.wait_for(
        lambda: standing.time_on_page() == pytest.approx(standing.world.time, abs=1e-3)
    )
    then, said = standing.world.time, standing.time_on_page()
    time.sleep(1.0)
    assert standing.world.time == then and standing.time_on_page() == said
    standing.press("Play", lambda: standing.time_on_page() > said + 0.1)


@pytest.mark.long
def test_the_robot_is_seen_and_a_drag_moves_it(standing):
    """The robot is where the page looks different without it; a mouse takes hold of it there."""
    standing.press("Pause", lambda: "paused" in standing.page.text())
    with_robot = steady_picture(standing)
    hide_robot(standing, True)
    standing.wait_for(lambda: standing.differing(with_robot).mean() > 0.004)
    empty = steady_picture(standing)
    hide_robot(standing, False)
    standing.wait_for(lambda: standing.differing(empty).mean() > 0.004)
    robot = standing.changed(empty, steady_picture(standing))
    rows, columns = np.nonzero(robot)
    height, width = np.ptp(rows), np.ptp(columns)
    assert height > 0.3 * SIZE[1] and height > 1.5 * width  # a standing person
    assert robot[:, : SIZE[0] // 10].mean() < 0.01  # nothing at the edge of the picture

    standing.page.click("Play")
    standing.wait_for(lambda: "real-time factor" in standing.page.text())
    chest = float(np.median(columns)), float(rows.min() + 0.3 * height)
    before = standing.world.robots["hrp2"].q[:3]
    page = standing.page

    def drag():
        page.mouse("mouseReleased", *chest)
        page.hover(*chest)
        page.wait_for_frames(5)
        page.mouse("mousePressed", *chest)
        for k in range(1, 11):
            page.mouse("mouseMoved", chest[0] + 8 * k, chest[1])
            page.wait_for_frames(1)

    standing.repeat(drag, lambda: standing.session.grip is not None)
    standing.wait_for(lambda: np.linalg.norm(standing.world.robots["hrp2"].q[:3] - before) > 2e-3)
    page.mouse("mouseReleased", chest[0] + 80, chest[1])
    standing.wait_for(lambda: standing.session.grip is None)
