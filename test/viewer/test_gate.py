# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Who may play with a world in a browser: foreign pages, rebound names and floods may not."""

import http.client
import socket
import struct
import threading
import time

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser is not installed: hrpsim[viewer]")

import msgspec
import viser
from ros.processes import until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from hrpsim import HrpsimError, Sphere, World
from hrpsim.viewer import Viewer

LIMIT = 200.0  # [s, wall] until what hangs is given up
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1, 0, 0, 0),
    "position": (3, 0, 1),
    "fov": 1.0,
    "near": 0.01,
    "far": 100.0,
    "image_height": 480,
    "image_width": 640,
    "look_at": (0, 0, 0),
    "up_direction": (0, 0, 1),
}


def small_world():
    world = World(time_step=2e-3)
    world.add_ground()
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 0.1), name="ball")
    return world


@pytest.fixture(scope="module")
def viewer():
    shown = Viewer(small_world(), port=0)
    yield shown
    shown.stop()


@pytest.fixture(scope="module")
def open_viewer():
    """A viewer that other machines reach."""
    shown = Viewer(small_world(), host="0.0.0.0", port=0)
    yield shown
    shown.stop()


def get(viewer, path="/", **fields):
    """Return status and head of the answer to a GET with these fields in its head."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.gate.port, timeout=LIMIT)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{viewer.gate.port}", **fields}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


def opened(viewer, query="", **options):
    return connect(
        f"ws://127.0.0.1:{viewer.gate.port}/{query}",
        subprotocols=[f"viser-v{viser.__version__}"],
        max_size=None,
        close_timeout=0.1,
        open_timeout=LIMIT,
        ping_interval=None,
        **options,
    )


def opened_or_refused(viewer):
    """Return a page's connection, None if it is refused."""
    try:
        return opened(viewer)
    except InvalidStatus:
        return None


def raw_page(viewer):
    """Return a socket on which a websocket is open, with little room for what it does not read."""
    page = socket.create_connection(("127.0.0.1", viewer.gate.port), timeout=LIMIT)
    page.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    page.sendall(
        f"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}"
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n".encode()
    )
    assert page.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 101"
    return page


def token(viewer):
    return f"?token={viewer.gate.token}"


def test_the_page_opens_here_and_cannot_be_framed(viewer):
    """Law: on this machine the page opens; no other page can show it within itself."""
    status, head = get(viewer)
    assert status == 200
    assert head["X-Frame-Options"] == "DENY" and "none" in head["Content-Security-Policy"]
    with opened(viewer) as socket:
        assert socket.recv(timeout=LIMIT)


@pytest.mark.parametrize(
    "fields, status",
    [
        ({"Host": "evil.example:8080"}, 403),  # DNS rebinding
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:9000", "Origin": "http://[::1]:9000"}, 200),
    ],
)
def test_foreign_names_and_pages_are_turned_away(viewer, fields, status):
    """Law: only pages of the viewer itself, called by a name of this machine, may talk to it."""
    assert get(viewer, **fields)[0] == status
    websocket = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    websocket["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    assert get(viewer, **websocket, **fields)[0] == (101 if status == 200 else status)


def test_two_hosts_are_refused(viewer):
    """Law: which of two hosts is meant cannot be known, so neither is served."""
    with socket.create_connection(("127.0.0.1", viewer.gate.port), timeout=LIMIT) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert plain.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 500"


def test_nobody_leads_the_page_through_a_public_relay(viewer, monkeypatch):
    """Law: viser's wish for a relay is heard and does nothing."""
    heard, answer = threading.Event(), viewer.server.request_share_url
    monkeypatch.setattr(
        viewer.server, "request_share_url", lambda: (answer(), heard.set()), raising=True
    )
    with opened(viewer) as page:
        page.send(msgspec.msgpack.encode({"type": "ShareUrlRequest"}))
        assert heard.wait(LIMIT) and viewer.server._share_tunnel is None


def test_from_elsewhere_the_token_opens_the_page(open_viewer):
    """Law: where other machines reach the viewer, only who has the token comes in."""
    assert get(open_viewer)[0] == 403
    assert get(open_viewer, "/?token=wrong")[0] == 403
    with pytest.raises(InvalidStatus):
        opened(open_viewer)
    assert token(open_viewer) in open_viewer.url
    status, head = get(open_viewer, "/" + token(open_viewer), Host="robot.example:8080")
    cookie = head["Set-Cookie"]
    assert status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert get(open_viewer, Cookie=cookie.partition(";")[0])[0] == 200
    assert get(open_viewer, Cookie="hrpsim_viewer_1=x; a")[0] == 403
    foreign = {"Origin": "http://evil.example"}
    assert get(open_viewer, "/" + token(open_viewer), **foreign)[0] == 403
    with opened(open_viewer, token(open_viewer)) as socket:
        assert socket.recv(timeout=LIMIT)


def test_what_is_no_request_is_dropped(viewer):
    """Law: bytes that are no GET of a browser end their connection, and nothing else."""
    for junk in (b"\r\n\r\n", b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"x" * 40000):
        with socket.create_connection(("127.0.0.1", viewer.gate.port), timeout=LIMIT) as plain:
            plain.sendall(junk)
            try:
                answer = plain.recv(1000)
            except ConnectionResetError:
                answer = b""
            assert not answer.startswith(b"HTTP/1.1 200")
    assert get(viewer)[0] == 200
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/nothing"):
        assert get(viewer, path)[0] == 404


def test_messages_that_make_no_sense_leave_no_traceback(viewer, capfd):
    """Law: whatever a page says, the viewer goes on, and its log gets a line a second at most."""
    speed = next(iter(viewer.controls.arrows.values()))._impl.uuid
    nonsense = [
        {"type": "NoSuchMessage"},
        {"type": "ViewerCameraMessage", "wxyz": "abc"},
        {"type": "GuiUpdateMessage", "uuid": "nobody", "updates": {"value": 1}},
        {"type": "GuiUpdateMessage", "uuid": speed, "updates": {"value": {"a": []}}},
        {"type": "GuiUpdateMessage", "uuid": viewer.controls.back._impl.uuid,
         "updates": {"value": "late"}},
        CAMERA | {"position": "here", "look_at": None},
    ]  # fmt: skip
    for message in nonsense:
        with opened(viewer) as page:
            page.send(msgspec.msgpack.encode(CAMERA))
            page.send(msgspec.msgpack.encode(message))
            for _ in range(5):
                viewer.turn()
    assert "Traceback" not in capfd.readouterr().err
    with opened(viewer) as page:
        page.send(msgspec.msgpack.encode(CAMERA))
        assert page.recv(timeout=LIMIT)


@pytest.mark.parametrize("message", [b"\0" * 2_000_000, b"junk", "text"])
def test_a_page_that_says_too_much_or_junk_is_ended(viewer, message):
    """Law: a message beyond the limit, or that is none, closes its connection only."""
    with opened(viewer) as page, pytest.raises(ConnectionClosed):
        page.send(message)
        while True:
            page.recv(timeout=LIMIT)
    with opened(viewer) as page:
        assert page.recv(timeout=LIMIT)


def test_no_more_pages_than_can_be_drawn():
    """Law: pages beyond the eighth are turned away, and let in when one has left."""
    viewer = Viewer(small_world(), port=0)
    pages = [opened(viewer) for _ in range(8)]
    with pytest.raises(InvalidStatus) as refused:
        opened(viewer)
    assert refused.value.response.status_code == 503
    pages[0].close()
    with until(lambda: opened_or_refused(viewer)) as page:  # a busy one sees later who has left
        assert page.recv(timeout=LIMIT)
    viewer.stop()
    with pytest.raises(OSError):
        opened(viewer)


def test_silent_connections_keep_nobody_out(viewer):
    """Law: who opens connections and says nothing is in nobody's way."""
    silent = [socket.create_connection(("127.0.0.1", viewer.gate.port)) for _ in range(80)]
    assert get(viewer)[0] == 200
    for connection in silent:
        connection.close()


def test_a_slow_reader_holds_up_nobody(viewer):
    """Law: a page that does not read costs a buffer; the others get their pictures."""
    slow = raw_page(viewer)
    message = msgspec.msgpack.encode(CAMERA)
    slow.sendall(struct.pack("!BBH", 0x82, 0xFE, len(message)) + b"\0" * 4 + message)
    viewer.session.world.bodies["ball"].v = np.array([0.5, 0.0, 0.0, 0.0, 5.0, 0.0])
    viewer.session.play()
    seen = []

    def watch():
        with opened(viewer) as page:
            page.send(msgspec.msgpack.encode(CAMERA))
            while len(seen) < 30:
                seen.append(page.recv(timeout=LIMIT))

    watcher = threading.Thread(target=watch)
    watcher.start()
    end = time.monotonic() + LIMIT
    while watcher.is_alive() and time.monotonic() < end:
        viewer.turn()
    watcher.join()
    slow.close()
    assert len(seen) == 30


def test_an_address_that_is_not_here_is_named():
    """Law: a host or port that nothing can listen on is an error that names it."""
    with pytest.raises(HrpsimError, match=r"cannot listen on '192\.0\.2\.1'"):
        Viewer(small_world(), host="192.0.2.1", port=8099)
