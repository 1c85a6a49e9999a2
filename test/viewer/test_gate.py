# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Who may play with a world in a browser: foreign pages, rebound names and floods may not."""

import asyncio
import contextlib
import http.client
import select
import socket
import struct
import threading
import time

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser is not installed: hrpsim[viewer]")

import msgspec
import viser
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from hrpsim import HrpsimError, Sphere, World
from hrpsim.viewer import gate
from hrpsim.viewer.frames import TooMuch, is_sound
from hrpsim.viewer.handshake import agreement, all_frames, frames_before_pong
from hrpsim.viewer.viewer import Viewer
from hrpsim.viewer.visitors import Request, Visitors

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


def raw_page(viewer):
    """Return a socket on which a websocket is open, and the pong that it owes."""
    page = socket.create_connection(("127.0.0.1", viewer.gate.port), timeout=LIMIT)
    page.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    page.sendall(
        f"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}"
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n".encode()
    )
    said = b""
    while len(said.partition(b"\r\n\r\n")[2]) < 10:
        said += page.recv(1000)
    head, _, ping = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101") and ping[:2] == b"\x89\x08"
    return page, b"\x8a\x88" + b"\0" * 4 + ping[2:10]


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
        ({"Host": ""}, 400),
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
    headers = {n: v for n, v in fields.items() if n == "Origin"}
    if headers and status == 403:
        with pytest.raises(InvalidStatus):
            opened(viewer, additional_headers=headers)


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


@pytest.mark.parametrize(
    "message",
    [
        b"junk",
        b"",
        msgspec.msgpack.encode([1, 2]),
        msgspec.msgpack.encode({"type": 3}),
        msgspec.msgpack.encode({"type": "ShareUrlRequest"}),
        msgspec.msgpack.encode({"type": "FileTransferPart", "content": b""}),
        msgspec.msgpack.encode({"type": "X", "value": float("nan")}),
        b"\x91" * 100000,
    ],
)
def test_junk_is_no_message(message):
    """Law: what is no message, or one that nobody asked for, does not reach viser."""
    assert not is_sound(message)


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


def test_a_page_that_says_too_much_is_ended(viewer):
    """Law: a message beyond the limit, or junk again and again, closes its connection only."""
    for message, count in ((b"\0" * 2_000_000, 1), (b"junk", 40)):
        with opened(viewer) as page, pytest.raises(ConnectionClosed):
            for _ in range(count):
                page.send(message)
            while True:
                page.recv(timeout=LIMIT)
    with opened(viewer) as page:
        assert page.recv(timeout=LIMIT)


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def empty_viewer():
    """A viewer that nobody has visited."""
    shown = Viewer(small_world(), port=0)
    yield shown
    shown.stop()


def test_no_more_pages_than_can_be_drawn(empty_viewer):
    """Law: pages beyond the eighth are turned away, and let in when one has left."""
    gate = empty_viewer.gate
    pages = [opened(empty_viewer) for _ in range(8)]
    wait_for(lambda: gate.page_count == 8)
    with pytest.raises(InvalidStatus) as refused:
        opened(empty_viewer)
    assert refused.value.response.status_code == 503
    for page in pages:
        page.close()
    wait_for(lambda: gate.page_count == 0)
    with opened(empty_viewer) as page:
        assert page.recv(timeout=LIMIT)


def test_pages_that_come_at_once_are_no_more_either(empty_viewer, monkeypatch):
    """Law: the ninth of those that ask together is closed with "try again later"."""
    monkeypatch.setattr(gate, "_HEAD_TIME", LIMIT)  # for all to have asked before one has answered
    pages = [raw_page(empty_viewer) for _ in range(10)]
    for page, pong in pages:
        page.sendall(pong)
    codes, waiting = [], [page for page, _ in pages]
    while len(codes) < 2:
        said, _, _ = select.select(waiting, [], [], LIMIT)
        assert said, codes
        for page in said:
            waiting.remove(page)
            data = page.recv(4, socket.MSG_WAITALL)
            codes += [struct.unpack("!H", data[2:])[0]] * (data[0] == 0x88)
    wait_for(lambda: empty_viewer.gate.page_count == 8)
    assert codes == [1013, 1013]
    for page, _ in pages:
        page.close()


def test_many_that_hold_the_line_keep_nobody_out_for_long(viewer):
    """Law: who opens connections and says nothing is let go after some seconds."""
    silent = [socket.create_connection(("127.0.0.1", viewer.gate.port)) for _ in range(80)]
    end = time.monotonic() + LIMIT
    while True:
        try:
            assert get(viewer)[0] == 200
            break
        except (http.client.HTTPException, OSError):
            assert time.monotonic() < end
    for connection in silent:
        connection.close()


def test_who_does_not_answer_is_not_shown_the_world(empty_viewer):
    """Law: before its pong a page takes no place, viser hears nothing of it, and it is let go."""
    told = []
    empty_viewer.server.on_client_connect(lambda _: told.append("opened"))
    message = msgspec.msgpack.encode(CAMERA)
    silent = [raw_page(empty_viewer)[0] for _ in range(10)]
    for page in silent:
        page.sendall(struct.pack("!BBH", 0x82, 0xFE, len(message)) + b"\0" * 4 + message)
    with opened(empty_viewer) as page:
        page.send(message)
        assert page.recv(timeout=LIMIT)
        wait_for(lambda: told)
        assert empty_viewer.gate.page_count == 1
    for page in silent:
        assert page.recv(1000) == b""
        page.close()
    assert told == ["opened"]


def from_page(code, payload):
    """Return a frame as a page sends it, with a mask of zero."""
    return bytes((0x80 | code, 0x80 | len(payload))) + b"\0" * 4 + payload


class Pings:
    """What the gate writes to a page, which answers after it has said something else."""

    def __init__(self, reader, *said):
        self.reader, self.said = reader, said

    def write(self, ping):
        for frame in self.said:
            self.reader.feed_data(frame)
        self.reader.feed_data(from_page(0xA, ping[2:]))


@pytest.mark.parametrize(
    "said, is_let_in",
    [
        ([], True),
        ([from_page(0x2, b"one"), from_page(0xA, b"a pong to nothing")], True),
        ([from_page(0x2, b"x" * 100)] * 20, False),
        ([from_page(0x9, b"")] * 200, False),
        ([from_page(0x8, b"")], False),
    ],
)
def test_what_a_page_says_before_its_pong_is_kept(said, is_let_in):
    """Law: it may speak as soon as the websocket is open, within limits; all keeps its order."""

    async def codes():
        reader = asyncio.StreamReader()
        early = await frames_before_pong(reader, Pings(reader, *said), 1000)
        reader.feed_data(from_page(0x2, b"later"))
        reader.feed_eof()
        heard = []
        with contextlib.suppress(asyncio.IncompleteReadError):
            async for frame in all_frames(early, reader, 1000):
                heard.append(frame.payload)
        return heard

    if is_let_in:
        assert asyncio.run(codes()) == [one[6:] for one in said] + [b"later"]
    else:
        with pytest.raises(TooMuch):
            asyncio.run(codes())


def test_the_websocket_is_agreed_to_as_in_the_standard():
    """Law: the key and the answer of RFC 6455, section 1.3; of the protocols the first of viser."""
    fields = {
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": "chat, viser-v1, viser-v2",
    }
    answer = agreement(Request("/", tuple(fields.items()))).decode().split("\r\n")
    assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer
    assert "Sec-WebSocket-Protocol: viser-v1" in answer
    for key in ("", "abc", "AAAA"):
        with pytest.raises(ValueError):
            agreement(Request("/", (("sec-websocket-key", key),)))


def test_a_slow_reader_holds_up_nobody(viewer):
    """Law: a page that does not read costs a buffer; the others get their pictures."""
    slow, pong = raw_page(viewer)
    slow.sendall(pong)
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


def test_a_head_that_says_things_twice_is_refused():
    """Law: two hosts, or two origins, cannot be told apart, so neither counts."""
    visitors = Visitors("127.0.0.1", 80, "secret")
    twice = Request("/", (("host", "localhost"), ("host", "evil.example")))
    with pytest.raises(ValueError, match="twice"):
        visitors.refuse(twice)
