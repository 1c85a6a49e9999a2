# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The index of a bag that is being written: out of memory, and whole at the end."""

import tracemalloc
from io import BytesIO

import pytest
from std_msgs.msg import String

from hrpsim.ros.base import qos
from hrpsim.ros.recording import bag_writer
from hrpsim.ros.recording.bag_writer import SpooledRecords

pytest.importorskip("rosbags", reason="rosbags is not installed: hrpsim[record]")


def test_records_come_back_in_their_order(tmp_path):
    """Law: what is iterated over is what was appended, as often as one likes, and goes on."""
    records = SpooledRecords(tmp_path)
    expected = [b"", b"a" * 70_000, b"end"]
    for content in expected:
        record = BytesIO()
        record.write(content)
        records.append(record)
    for _ in range(2):
        assert [record.getvalue() for record in records] == expected
        assert [record.tell() for record in records] == list(map(len, expected))
    records.append(BytesIO(b"more"))
    assert [record.getvalue() for record in records] == [*expected, b"more"]
    assert len(records) == 4 and not list(tmp_path.iterdir())


def written(path, chunks):
    """Write a bag of so many chunks of one message; return the memory that stays taken [bytes]."""
    with bag_writer.BagWriter(path) as bag:
        bag.add_topic("/text", "std_msgs/msg/String", qos.STATE)
        data = serialised()
        for number in range(chunks):
            if number == 100:
                tracemalloc.start()
                before = tracemalloc.take_snapshot()
            bag.write("/text", number, data)
            bag.keep()
        after = tracemalloc.take_snapshot()
        tracemalloc.stop()
    return sum(entry.size_diff for entry in after.compare_to(before, "filename"))


def serialised():
    from rclpy.serialization import serialize_message

    return serialize_message(String(data="a text"))


def test_memory_does_not_grow_with_the_recording_and_the_file_is_the_same(tmp_path, monkeypatch):
    """Law: chunk by chunk nothing stays in memory, and the file is that of an index in memory."""
    taken = written(tmp_path / "spooled" / "bag", 3000)
    monkeypatch.setattr(bag_writer, "SpooledRecords", lambda folder: [])
    kept = written(tmp_path / "kept" / "bag", 3000)
    assert taken < 100_000 < 500_000 < kept
    files = [(tmp_path / name / "bag" / "bag.mcap").read_bytes() for name in ("spooled", "kept")]
    assert files[0] == files[1]
