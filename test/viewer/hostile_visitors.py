# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How fast a robot steps while fifty visitors do their worst, and while nobody does."""

from __future__ import annotations

import subprocess
import sys
import time

import msgspec
import numpy as np

from hrpsim import load_world, share_path
from hrpsim.viewer import Viewer

PERIOD, TURNS = 3.0, 4  # [s] of each measurement, and how many of each

# Ten of each: silent lines, pages that never read, junk, floods of sound messages, requests.
HOSTILE = """
import os, random, socket, struct, sys, time
port, version = int(sys.argv[1]), sys.argv[2]
junk, sound = os.urandom(200), bytes.fromhex(sys.argv[3])
HEAD = (f"GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\n"
        f"Upgrade: websocket\\r\\n"
        f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\nSec-WebSocket-Version: 13\\r\\n"
        f"Sec-WebSocket-Protocol: viser-v{version}\\r\\n\\r\\n").encode()
def frame(content):
    return struct.pack("!BBH", 0x82, 0xFE, len(content)) + bytes(4) + content
lines = {}
while True:
    for number in range(50):
        kind = number % 5
        try:
            if number not in lines:
                lines[number] = line = socket.create_connection(("127.0.0.1", port), 1.0)
                line.setblocking(False)
                if kind in (1, 2, 3):
                    line.send(HEAD + frame(sound))
            line = lines[number]
            if kind == 2:
                line.send(frame(junk) * 20)
            elif kind == 3:
                line.send(frame(sound) * 20)
            elif kind == 4:
                line.send(b"GET /?token=wrong HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n")
                line.close(); del lines[number]
        except BlockingIOError:
            pass
        except OSError:
            lines.pop(number, None)
    time.sleep(0.01)
"""


def steps_in(viewer, duration):
    """Return how many steps are made in `duration` [s, wall] beside frames of the page.

    And what share of a processor the threads that serve the page take meanwhile.
    """
    begin = time.process_time() - time.thread_time()
    world, end, count = viewer.session.world, time.monotonic() + duration, 0
    next_frame = 0.0
    while (now := time.monotonic()) < end:
        if now >= next_frame:
            viewer.show()
            next_frame = now + 1.0 / 30.0
        world.step(20)
        count += 20
    return count, (time.process_time() - time.thread_time() - begin) / duration


def main() -> None:
    """Print how the step fares."""
    import viser

    world = load_world(share_path("config/stand.yaml"))
    world.step(100)
    viewer = Viewer(world, port=0)
    camera = {"type": "ViewerCameraMessage", "wxyz": (1, 0, 0, 0), "position": (3, 0, 1)}
    camera |= {"fov": 1.0, "near": 0.01, "far": 100.0, "image_height": 480, "image_width": 640}
    camera |= {"look_at": (0, 0, 0), "up_direction": (0, 0, 1)}
    sound = msgspec.msgpack.encode(camera).hex()
    quiet, besieged = [], []
    for _ in range(TURNS):
        quiet.append(steps_in(viewer, PERIOD))
        command = [sys.executable, "-c", HOSTILE, str(viewer.gate.port), viser.__version__, sound]
        with subprocess.Popen(["nice", "-n", "39", *command], stderr=subprocess.DEVNULL) as hostile:
            time.sleep(0.5)
            besieged.append(steps_in(viewer, PERIOD))
            hostile.kill()
        time.sleep(1.0)
    viewer.stop()
    (calm, idle), (siege, busy) = np.median(quiet, axis=0), np.median(besieged, axis=0)
    print(
        f"{siege / calm:.2f} of the steps a second without them; the page's threads take "
        f"{100 * busy:.0f} % of a processor, {100 * idle:.0f} % without them"
    )


if __name__ == "__main__":
    main()
