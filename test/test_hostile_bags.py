# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bags that somebody made to run code, delete files, or take all time and memory: none does."""

import sqlite3
import struct
import zlib

import numpy as np
import pytest
from backports import zstd
from effort import counted_calls
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.bag import BagError, messages, topic_types
from hrpsim.bag.reader import lost_messages, message_counts, points
from hrpsim.bag.types import decode, read_types
from hrpsim.common import limits

TYPES = get_typestore(Stores.ROS2_JAZZY)
TEXT = "std_msgs/msg/String"
LINE = "=" * 80
BOMB = "a0: &a0 {k: v}\n" + "".join(
    f"a{k + 1}: &a{k + 1} {{<<: [{', '.join([f'*a{k}'] * 10)}]}}\n" for k in range(12)
)


def write_bag(path, storage="mcap", count=5):
    with Writer(path, version=9, storage_plugin=StoragePlugin[storage.upper()]) as writer:
        connection = writer.add_connection("/text", TEXT, typestore=TYPES)
        data = bytes(TYPES.serialize_cdr(TYPES.types[TEXT]("hello"), TEXT))
        for number in range(count):
            writer.write(connection, number, data)
    return path


# -- definitions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "definition",
    [
        "int32 x = 1\nint32 import",  # sound: constants are not read
        "string data 'default'  # comment",
        "string<=5[<=3] data",
        "uint8[3] a\nbool[] b\nfloat64[<=2] c",
    ],
)
def test_sound_definitions_are_read(definition):
    assert read_types(definition, "p/msg/T")["p/msg/T"]


@pytest.mark.parametrize(
    "definition",
    [
        "int32 x; import os",
        "int32 __class__.x",
        "int32 x\n__import__('os').system('true')",
        "int32 x\x0b\nimport os",
        "Other(1) x",
        "int32[__import__('os')] x",
        "int32[0] x",  # takes no bytes: a sequence of it would have no end
        "string[999999999] x",
        "p/msg/T x",  # itself
        "Other[] x",
        f"int32 x\n{LINE}\nMSG: a/b\nimport os;",
        f"int32 x\n{LINE}\nMSG: a'b/c\nint32 x",
        f"int32 x\n{LINE}\nimport os",
        "int32 x\nint32 x",
        "x" * (limits.BAG_DEFINITION + 1),
        "\n".join(f"{LINE}\nMSG: p/T{k}\nT{k + 1} x" for k in range(60)),
    ],
)
def test_definitions_that_are_none_are_refused(definition):
    """Law: what is no list of fields is refused by name; nothing of it is ever run."""
    with pytest.raises(ValueError):
        read_types("T0 x\n" + definition if LINE in definition[:80] else definition, "p/msg/T")


@pytest.mark.parametrize("name", ["T", "p/T\nimport os", "p/msg/T()", "", "/", "p//T", "a/b/c/d"])
def test_names_of_types_are_names(name):
    with pytest.raises(ValueError, match="is not the name of a message type"):
        read_types("int32 x", name)


def random_message(name, chance):
    """Return a message of rosbags' of a type, with random contents."""

    def value(desc):
        kind, detail = desc
        if kind.name == "NAME":
            return random_message(detail, chance)
        if kind.name == "BASE":
            base = detail[0]
            if base == "string":
                return "".join(chance.choice(list("aé€"), chance.integers(0, 5)))
            if base.startswith("float"):
                return float(np.float32(chance.normal()))
            return bool(chance.integers(2)) if base == "bool" else int(chance.integers(100))
        inner, count = detail
        count = count if kind.name == "ARRAY" else chance.integers(0, 4)
        values = [value(inner) for _ in range(count)]
        if inner[0].name == "BASE" and inner[1][0] != "string":
            base = {"bool": "?", "byte": "u1", "char": "u1", "octet": "u1"}
            return np.array(values, dtype=base.get(inner[1][0], inner[1][0]))
        return values

    fields = TYPES.fielddefs[name][1]
    return TYPES.types[name](*(value(desc) for _, desc in fields))


def is_same(ours, theirs):
    if isinstance(theirs, np.ndarray):
        return np.array_equal(ours, theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    if hasattr(theirs, "__dataclass_fields__"):
        return all(is_same(getattr(ours, f), getattr(theirs, f)) for f in vars(ours))
    return ours == theirs


DECODED = sorted(
    name
    for name, (_, fields) in TYPES.fielddefs.items()
    if fields and fields[0][0] != "structure_needs_at_least_one_member"
    and "wstring" not in str(fields) and not name.startswith("test_msgs")
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(DECODED), st.integers(0, 2**32), st.booleans())
def test_every_type_of_ros_is_decoded_as_rosbags_does(name, seed, little):
    """Law: each message that rosbags writes is read back with the same values."""
    sent = random_message(name, np.random.default_rng(seed))
    data = bytes(TYPES.serialize_cdr(sent, name, little_endian=little))
    definition, _ = TYPES.generate_msgdef(name, ros_version=2)
    assert is_same(decode(read_types(definition, name), name, data), sent)


def test_counts_beyond_the_bytes_are_refused_at_once():
    """Law: no count or length that a message names is believed before its bytes are there."""
    types = read_types("string[] s\nfloat64[] f\nPart[] p\n" + f"{LINE}\nMSG: p/Part\n", "p/msg/T")
    head = b"\0\1\0\0"
    with counted_calls() as calls:
        for body in (
            b"\xff\xff\xff\x7f",
            struct.pack("<II", 0, 2**31),
            struct.pack("<III", 0, 0, 2**32 - 1),
            struct.pack("<II", 1, 2**32 - 4),
        ):
            with pytest.raises((ValueError, struct.error)):
                decode(types, "p/msg/T", head + body + bytes(64))
        many = struct.pack("<III", 0, 0, limits.BAG_VALUES + 1) + bytes(limits.BAG_VALUES + 1)
        with pytest.raises(ValueError, match="BAG_VALUES"):
            decode(types, "p/msg/T", head + many)
    assert calls[0] < 10**4


# -- files --------------------------------------------------------------------------------------


def test_a_journal_cannot_delete_a_file(tmp_path):
    """Law: SQLite deletes what a journal names as its super-journal; such a journal is not used."""
    bag = write_bag(tmp_path / "bag", "sqlite3")
    (file,) = bag.glob("*.db3")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
    pages = file.stat().st_size // 4096
    journal = (magic + struct.pack(">IIIII", 0, 0, pages, 512, 4096)).ljust(512, b"\0")
    journal += struct.pack(">I", 0x40000000 // 4096 + 1) + name
    journal += struct.pack(">II", len(name), sum(name)) + magic
    file.with_name(file.name + "-journal").write_bytes(journal)
    assert len(list(messages(bag, "text"))) == 5
    assert victim.read_text() == "precious"


def test_reading_writes_nothing(tmp_path):
    """Law: files of a bag are the same bytes after it was read, journals too."""
    bag = write_bag(tmp_path / "bag", "sqlite3")
    (file,) = bag.glob("*.db3")
    other = sqlite3.connect(file)
    other.execute("PRAGMA cache_size = 1")
    other.execute("BEGIN")
    other.executemany(
        "INSERT INTO messages VALUES (?, 1, 0, ?)", [(k, bytes(9000)) for k in range(9, 60)]
    )
    left = tmp_path / "left"
    left.mkdir()
    for path in bag.iterdir():
        (left / path.name).write_bytes(path.read_bytes())  # as a kill would leave it
    other.close()
    assert any(path.name.endswith("-journal") for path in left.iterdir())
    before = {path.name: path.read_bytes() for path in left.iterdir()}
    assert [m.data for m in messages(left, "text")] == ["hello"] * 5
    assert {path.name: path.read_bytes() for path in left.iterdir()} == before


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE messages; CREATE VIEW messages AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
        "SELECT x + 1 FROM c) SELECT x AS id, 1 AS topic_id, x AS timestamp, x'00' AS data FROM c",
        "DROP TABLE topics; CREATE VIEW topics AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
        "SELECT x + 1 FROM c) SELECT x AS id, 'a' AS name, 'b' AS type, 'cdr' AS "
        "serialization_format FROM c",
        "DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, "
        "timestamp INTEGER, data BLOB AS (zeroblob(900000000))); "
        "INSERT INTO messages(topic_id, timestamp) VALUES (1, 0)",
    ],
)  # fmt: skip
def test_a_database_that_computes_is_not_computed(tmp_path, statement):
    """Law: views and computed columns are no rows of a bag."""
    bag = write_bag(tmp_path / "bag", "sqlite3")
    (file,) = bag.glob("*.db3")
    with sqlite3.connect(file) as database:
        database.executescript(statement)
    try:
        assert list(messages(bag, "text")) == []
    except BagError as error:
        assert "there is no table" in str(error) or "computed" in str(error)


def record(kind, content):
    return struct.pack("<BQ", kind, len(content)) + content


def text(words):
    return struct.pack("<I", len(words)) + words


def test_what_is_packed_cannot_fill_the_memory(tmp_path):
    """Law: a chunk or message that unpacks to more than its limit is left out, and said."""
    bomb = zstd.compress(bytes(2 * limits.BAG_CHUNK))
    assert len(bomb) < 100_000
    size = 2 * limits.BAG_CHUNK
    chunk = (
        struct.pack("<QQQI", 0, 1, size, 0) + text(b"zstd") + struct.pack("<Q", len(bomb)) + bomb
    )
    lies = chunk.replace(struct.pack("<Q", size), struct.pack("<Q", 1000), 1)
    schema = record(
        3, struct.pack("<H", 1) + text(TEXT.encode()) + text(b"ros2msg") + text(b"string data")
    )
    channel = record(4, struct.pack("<HH", 1, 1) + text(b"/text") + text(b"cdr") + text(b""))
    inner = record(
        6, struct.pack("<QQQI", 0, 1, 0, zlib.crc32(b"")) + text(b"") + struct.pack("<Q", 0)
    )
    nested = record(
        6,
        struct.pack("<QQQI", 0, 1, len(inner), 0)
        + text(b"")
        + struct.pack("<Q", len(inner))
        + inner,
    )
    message = record(5, struct.pack("<HIQQ", 1, 0, 0, 0) + b"\0\1\0\0" + text(b"ok\0"))
    content = (
        b"\x89MCAP0\r\n" + schema + channel + record(6, chunk) + record(6, lies) + nested + message
    )
    file = tmp_path / "bag.mcap"
    file.write_bytes(content + b"\x89MCAP0\r\n")
    assert [m.data for m in messages(file, "text")] == ["ok"]
    packed = record(5, struct.pack("<HIQQ", 1, 0, 0, 0) + bomb)
    file.write_bytes(content + packed + b"\x89MCAP0\r\n")
    with pytest.raises(BagError, match="too large"):
        list(messages(file, "text"))


@pytest.mark.long
def test_a_file_that_unpacks_without_end_is_cut(tmp_path):
    (tmp_path / "bag").mkdir()
    file = tmp_path / "bag" / "bag.mcap.zstd"
    file.write_bytes(zstd.compress(b"\x89MCAP0\r\n" + bytes(limits.BAG_UNPACKED + (1 << 20))))
    with pytest.raises(BagError, match="BAG_EXPANSION"):
        topic_types(tmp_path / "bag")


def test_metadata_cannot_fill_the_memory(tmp_path):
    """Law: metadata.yaml is read within the limits of YAML; beyond them it counts as damaged."""
    bag = write_bag(tmp_path / "bag")
    (bag / "metadata.yaml").write_text(BOMB + "rosbag2_bagfile_information: *a12\n")
    with counted_calls() as calls:
        assert message_counts(bag) == {"/text": 5}
        assert lost_messages(bag) == {}
    assert calls[0] < 10**5


def test_messages_in_no_order_are_sorted(tmp_path):
    path = tmp_path / "bag"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/text", TEXT, typestore=TYPES)
        for number in (3, 1, 2):
            data = bytes(TYPES.serialize_cdr(TYPES.types[TEXT](str(number)), TEXT))
            writer.write(connection, number, data)
    assert [m.data for m in messages(path, "text")] == ["1", "2", "3"]
    with pytest.raises(BagError, match="is of type"):
        points(path, "text")
