# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A page in a headless chromium, driven over the DevTools protocol as a person would use it."""

import base64
import io
import json
import threading
import time
import urllib.request
from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import binary_opening
from viewer.chromium import Chromium, find_chromium

from hrpsim import HrpsimError

try:
    import viser  # noqa: F401
    from PIL import Image
    from websockets.sync.client import connect

    find_chromium()
    WHY_NOT = ""
except (ImportError, HrpsimError) as cause:
    WHY_NOT = str(cause)

in_browser = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("browser"),  # one browser at a time: it draws by software
]
LIMIT = 250.0  # [s, wall] until what hangs is given up
SIZE = (800, 600)
CHANGED = 40  # of the sum of red, green and blue

# The button whose words begin so; the page's own way to be clicked or held would do as well.
_PLACE = """(() => {
  const b = [...document.querySelectorAll('button')].find(b => b.innerText.trim().startsWith(%s));
  if (!b) return null;
  b.scrollIntoView({block: 'center'});
  const r = b.getBoundingClientRect();
  return [r.x + r.width / 2, r.y + r.height / 2];
})()"""
_WAIT_FOR_FRAMES = """new Promise(done => {
  let left = %d;
  const tick = () => { left -= 1; if (left > 0) requestAnimationFrame(tick); else done(left); };
  requestAnimationFrame(tick); })"""


class Page:
    """What a person sees of `url` and does with it."""

    def __init__(self, url, size=SIZE, limit=LIMIT):
        self._browser = Chromium(url, size)
        try:
            self._socket = connect(
                self._address(limit), max_size=None, close_timeout=0.1, ping_interval=None
            )
        except BaseException:
            self._browser.close()
            raise
        self._count = 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._socket.close()
        self._browser.close()

    def text(self):
        """All words on the page."""
        return self.evaluate("document.body ? document.body.innerText : ''")

    def evaluate(self, script):
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self):
        """The page as it looks (height, width, 3)."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")).astype(int)

    def wait_for_frames(self, count):
        """Return once the browser has drawn so often."""
        self.evaluate(_WAIT_FOR_FRAMES % count)

    def click(self, name):
        self.mouse("mousePressed", *self.place_of(name))
        self.mouse("mouseReleased", *self.place_of(name))

    def place_of(self, name):
        """Where the middle of the button is whose words begin with `name` [pixels]."""
        place = self.evaluate(_PLACE % json.dumps(name))
        assert place is not None, f"no button {name!r} in: {self.text()}"
        return place

    def mouse(self, kind, x, y):
        buttons = 0 if kind == "mouseReleased" else 1
        self.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left",
            buttons=buttons,
            clickCount=int(kind != "mouseMoved"),
        )

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, letter):
        common = {
            "key": letter.lower(),
            "code": f"Key{letter}",
            "windowsVirtualKeyCode": ord(letter),
        }
        self.call("Input.dispatchKeyEvent", type="keyDown", text=letter.lower(), **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def call(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=LIMIT))
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _address(self, limit):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            assert self._browser.is_running, "the browser ended"
            if port := self._browser.devtools_port:
                with urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/json", timeout=LIMIT
                ) as answer:
                    for target in json.load(answer):
                        if target["type"] == "page":
                            return target["webSocketDebuggerUrl"]
            time.sleep(0.1)
        raise AssertionError("the browser did not open the page")


class Shown:
    """A viewer that runs in a thread, and the page that shows it."""

    def __init__(self, viewer):
        self.viewer, self.world, self.session = viewer, viewer.session.world, viewer.session
        self._going = True
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self.page = Page(viewer.url, SIZE)
        self.wait_for(lambda: "real-time factor" in self.page.text())

    def _serve(self):
        self.viewer.server.on_client_connect(
            lambda _: self.viewer.controls.request(self.viewer.session.play)
        )
        while self._going:
            self.viewer.turn()

    def close(self):
        self.page.__exit__()
        self._going = False
        self._thread.join()
        self.viewer.stop()

    def wait_for(self, happened, limit=LIMIT):
        end = time.monotonic() + limit
        while not happened():
            assert time.monotonic() < end, f"it did not happen; the page: {self.page.text()}"
            time.sleep(0.1)

    def press(self, button, happened):
        """Press a button until something has happened."""
        self.repeat(lambda: self.page.click(button), happened)

    def repeat(self, deed, happened):
        """Do it until something has happened: a page that is still busy hears nothing."""
        end = time.monotonic() + LIMIT
        while not happened():
            assert time.monotonic() < end, f"it did nothing; the page: {self.page.text()}"
            deed()
            time.sleep(1.0)

    def time_on_page(self):
        """What the page says that the time is [s]."""
        words = self.page.text().split()
        return next(float(a) for a, b in pairwise(words) if b == "s" and "." in a)

    def differing(self, before):
        """Where the page looks unlike `before` (height, width)."""
        return self.changed(before, self.page.picture())

    @staticmethod
    def changed(before, after):
        """Where two pictures look unlike (height, width), but for the lines of the floor.

        They are a pixel or two wide, and drawn anew where a busy page changes its resolution.
        """
        unlike = np.abs(after - before).sum(axis=2) > CHANGED
        return binary_opening(unlike, np.ones((5, 5)))
