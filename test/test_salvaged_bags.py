# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bags that were not ended or lost some bytes: what is whole is read, what is missing is said."""

import os
import shutil
import sqlite3
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.bag import BagError, messages, topic_types
from hrpsim.bag import reader as bag_reader
from hrpsim.bag.reader import StoredBag, lost_messages, message_counts, points
from hrpsim.commands.cli import main

TYPES = get_typestore(Stores.ROS2_JAZZY)
POINT = "geometry_msgs/msg/PointStamped"
MAGIC, CHUNK = b"\x89MCAP0\r\n", 0x06
HEAD = struct.Struct("<BQ")  # of a record: kind, length
FIRST = 10**18  # time of reception of the first message [ns]


def point(number):
    types = TYPES.types
    stamp = types["builtin_interfaces/msg/Time"](number, 0)
    header = types["std_msgs/msg/Header"](stamp, "floor")
    place = types["geometry_msgs/msg/Point"](float(number), 0.0, 0.0)
    return bytes(TYPES.serialize_cdr(types[POINT](header, place), POINT))


def begun(path, storage, count=300, kept=50):
    """Return the Writer of a bag that has handed `count` points over, `kept` at a time."""
    writer = Writer(path, version=9, storage_plugin=StoragePlugin[storage.upper()])
    writer.open()
    connections = [
        writer.add_connection(name, POINT, typestore=TYPES) for name in ("/zmp", "/other")
    ]
    for number in range(count):
        for connection in connections:
            writer.write(connection, FIRST + number, point(number))
        if (number + 1) % kept == 0:
            keep(writer.storage)
    return writer


def keep(storage):
    if hasattr(storage, "conn"):
        storage.conn.commit()
    else:
        storage.close_chunk()
        storage.bio.flush()


@pytest.fixture(autouse=True)
def say_again():
    bag_reader._said.clear()


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_what_was_handed_over_is_read_when_the_recorder_died(tmp_path, storage, capsys):
    """Law: a bag without index and metadata.yaml holds all that its recorder had handed over."""
    writer = begun(tmp_path / "bag", storage, count=330)
    shutil.copytree(tmp_path / "bag", tmp_path / "left")  # as a kill would leave it
    writer.abort()
    bag = tmp_path / "left"
    assert message_counts(bag) == {"/zmp": 300, "/other": 300}
    assert points(bag, "zmp").position[:, 0].tolist() == list(range(300))
    assert lost_messages(bag) == {}
    assert topic_types(bag) == {"/other": POINT, "/zmp": POINT}
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "600 messages can be read" in said


def test_a_cut_in_the_file_costs_what_lies_behind_it(tmp_path, capsys):
    """Law: the records before the first that is not whole are read, wherever the cut is."""
    begun(tmp_path / "bag", "mcap").close()
    file = tmp_path / "bag" / "bag.mcap"
    whole = file.read_bytes()
    counts = []
    for part in np.linspace(0.2, 0.99, 7):
        file.write_bytes(whole[: int(part * len(whole))])
        bag_reader._said.clear()
        found = points(tmp_path / "bag", "zmp").position[:, 0].tolist()
        assert found == list(range(len(found)))
        assert "can be read" in capsys.readouterr().err
        counts.append(len(found))
    assert counts == sorted(counts) and counts[0] >= 50 and counts[-1] == 300


def borders(content):
    """Return where the records of an MCAP file end, those in its chunks too, and its chunks."""
    ends, chunks, place = [0, len(MAGIC)], [], len(MAGIC)
    while content[place : place + 8] != MAGIC:
        kind, length = HEAD.unpack_from(content, place)
        place += HEAD.size
        if kind == CHUNK:
            chunks.append(place - HEAD.size)
            inner = place + 8 + 8 + 8 + 4 + 4 + 8  # of a chunk that is not packed
            while inner < place + length:
                inner += HEAD.size + HEAD.unpack_from(content, inner)[1]
                ends.append(inner)
        place += length
        ends.append(place)
    return sorted({*ends, place + len(MAGIC)}), chunks


def messages_before(content, end):
    """Return how many messages of each channel are whole in the first `end` bytes."""
    return {
        topic: sum(0 <= at + len(point(0)) <= end for at in places(content, number))
        for number, topic in ((1, "/zmp"), (2, "/other"))
    }


def places(content, channel):
    """Return where the data of a channel's points lie, in their order."""
    found = []
    for number in range(20):
        head = struct.pack("<HIQQ", channel, 0, FIRST + number, FIRST + number)
        at = content.find(head + point(number))
        assert at >= 0
        found.append(at + len(head))
    return found


def test_a_bag_that_ends_at_any_border_of_its_records_is_read(tmp_path, capsys):
    """Law: cut at each border, or a byte beside it, what is whole before the cut is read.

    Nothing, too: a recorder that was killed within a second of its start leaves magic and header.
    """
    begun(tmp_path / "whole", "mcap", count=20, kept=5).close()
    content = (tmp_path / "whole" / "whole.mcap").read_bytes()
    ends, chunks = borders(content)
    assert len(chunks) == 4 and len(ends) > 2 * 20 + 4 * 3
    bag = tmp_path / "bag"
    bag.mkdir()
    for number, end in enumerate(sorted({end + by for end in ends for by in (-1, 0, 1)})):
        if not 0 <= end <= len(content):
            continue
        file = bag / "bag.mcap"
        file.write_bytes(content[:end])
        os.utime(file, ns=(number, number))
        bag_reader._said.clear()
        found = message_counts(bag)
        said = capsys.readouterr().err
        wanted = messages_before(content, end)
        assert {topic: found.get(topic, 0) for topic in wanted} == wanted, end
        assert f"{sum(wanted.values())} messages can be read" in said and said.count("\n") == 1
        for topic in found:
            stamps = [message.header.stamp.sec for message in messages(bag, topic)]
            assert stamps == list(range(wanted[topic]))


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_bag_that_is_only_begun_has_no_messages(tmp_path, storage, capsys):
    """Law: what a recorder leaves that was killed before its first message is no damaged bag."""
    writer = Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin[storage.upper()])
    writer.open()
    shutil.copytree(tmp_path / "bag", tmp_path / "left")
    writer.close()
    assert message_counts(tmp_path / "left") == topic_types(tmp_path / "left") == {}
    said = capsys.readouterr().err
    assert "0 messages can be read" in said and "no metadata.yaml" in said
    with pytest.raises(BagError, match=r"Topics: nothing \(the recording was not closed"):
        list(messages(tmp_path / "left", "/clock"))


def make_database(path, statement):
    """Make a database in which a statement was executed."""
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.close()


def test_tables_are_made_one_after_the_other(tmp_path):
    """Law: a recorder that was killed before its table of topics leaves a bag without messages."""
    file = tmp_path / "bag" / "bag.db3"
    file.parent.mkdir()
    file.touch()
    assert message_counts(file.parent) == {}
    make_database(file, "CREATE TABLE schema (version INTEGER, ros_distro TEXT)")
    assert message_counts(file.parent) == {}


def test_what_does_not_begin_as_a_bag_is_refused(tmp_path):
    """Law: other bytes than a bag begins with are told from a bag that is only begun."""
    (tmp_path / "bag").mkdir()
    make_database(tmp_path / "people", "CREATE TABLE people (name TEXT)")
    for name, content in (
        ("bag.mcap", b"RIFF"),
        ("bag.mcap", MAGIC + b"\x05"),
        ("bag.db3", b"SQLite form"),
        ("bag.db3", (tmp_path / "people").read_bytes()),
        ("bag.mcap.zstd", b"no zstd"),
    ):
        (tmp_path / "bag" / name).write_bytes(content)
        with pytest.raises(BagError, match="contains no complete record"):
            message_counts(tmp_path / "bag")
        (tmp_path / "bag" / name).unlink()


def test_a_damaged_chunk_costs_itself(tmp_path, capsys):
    """Law: a chunk whose checksum is another one is left out; those behind it are read."""
    begun(tmp_path / "bag", "mcap").close()
    file = tmp_path / "bag" / "bag.mcap"
    data = bytearray(file.read_bytes())
    data[data.index(point(120))] ^= 0xFF  # rosbags' own chunks carry no checksum: break the record
    place = data.index(point(220)[4:])
    data[place - 31 : place - 23] = b"\xff" * 8  # the length of a message's record
    file.write_bytes(data)
    (tmp_path / "bag" / "metadata.yaml").unlink()
    stored = StoredBag(tmp_path / "bag")
    assert 500 < stored.count < 600 and stored.missing


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize(
    "was, becomes",
    [
        (b"Time stamp", b"Time st`mp"),  # no name
        (b"Point point", b"Paint point"),  # a type that is not defined
        (b"Point point", b"Point paint"),  # a field that the type has not
        (b"float64 y", b"string  y"),  # a number that is none
        (b"int32 sec", b"int3? sec"),  # no type
    ],
)
def test_a_damaged_definition_of_a_type_is_told_in_one_line(tmp_path, storage, was, becomes):
    """Law: a bag whose definition of a type is damaged is refused by a BagError of one line."""
    writer = begun(tmp_path / "bag", storage, count=20, kept=5)
    writer.close()
    (file,) = (tmp_path / "bag").glob("bag.*")
    content = file.read_bytes()
    assert was in content
    file.write_bytes(content.replace(was, becomes))
    with pytest.raises(BagError) as refused:
        points(tmp_path / "bag", "zmp")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 1000


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@settings(max_examples=25)
@given(data=st.data())
def test_no_damage_is_more_than_an_error_of_one_line(tmp_path_factory, storage, data):
    """Law: whatever bytes a bag has lost, it is read or refused by a BagError of one line."""
    folder = tmp_path_factory.mktemp("damaged")
    begun(folder / "bag", storage, count=20, kept=5).close()
    name = data.draw(st.sampled_from(["metadata.yaml", "bag"]))
    (file,) = (folder / "bag").glob(f"{name}*")
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.sampled_from([1, 4, 64]))
        kind = data.draw(st.sampled_from(["flip", "cut", "drop", "ones"]))
        if kind == "flip":
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "cut":
            del content[max(place, 1) :]
        elif kind == "drop":
            del content[max(place, 1) : place + length]
        else:
            content[place : place + length] = b"\xff" * len(content[place : place + length])
    file.write_bytes(content)
    for read in (
        message_counts,
        topic_types,
        lost_messages,
        lambda bag: list(messages(bag, "zmp")),
        lambda bag: points(bag, "zmp"),
    ):
        try:
            read(folder / "bag")
        except BagError as error:
            assert len(str(error)) < 3000
    shutil.rmtree(folder)


def test_the_command_tells_in_one_line(tmp_path, capsys):
    """Law: wrench-plot of a bag that holds nothing whole ends with status 1 and a line."""
    (tmp_path / "bag").mkdir()
    for name in ("bag.mcap", "bag.db3"):
        (tmp_path / "bag" / name).write_bytes(b"\x89MCAP0\r\n" + b"\x06" + b"\xff" * 30)
    assert main(["wrench-plot", str(tmp_path / "bag")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hrpsim: ") and error.count("\n") == 1 and "bag.mcap" in error
