# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the intact rows of a bag in SQLite. Needs no ROS.

A database can contain code: views, triggers and computed columns run when rows are read. This
module reads plain tables only.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from hrpsim.bag.bag_contents import BagTopic, Stored
from hrpsim.common import limits

_JOURNAL_END = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  # after the name of another journal
_TABLES = {"schema", "metadata", "topics", "messages", "message_definitions", "timestamp_idx"}
_SHOWN = 10  # problems of a structure
_WORK = 10_000  # instructions of SQLite, about a thousand rows
_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # an error quotes a damaged schema


class SqliteFile:
    """The messages of an SQLite file. `damage` describes the unreadable part of the last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        self._channels: dict[int, BagTopic] | None = None
        self._damage_of_topics = ""
        self._folder: TemporaryDirectory | None = None  # of a copy

    def is_begun(self) -> bool:
        """Return whether all tables of the file, if any, are tables of a bag."""
        if self.path.stat().st_size == 0:
            return True
        try:
            with closing(self._opened()) as database:
                tables = database.execute("SELECT name FROM sqlite_master LIMIT 100").fetchall()
        except (*_ERRORS, OSError):
            return False
        return _TABLES.issuperset(name for (name,) in tables)

    def problems(self) -> list[str]:
        """Return the errors that SQLite finds in the structure of the file."""
        try:
            with closing(self._opened()) as database:
                _bound_work(database, 10 * self.path.stat().st_size)
                rows = database.execute(f"PRAGMA integrity_check({_SHOWN})").fetchall()
        except (*_ERRORS, OSError) as error:
            return [str(error)]
        return [str(text) for (text,) in rows if text != "ok"]

    def unchecked(self) -> str:
        """Return a text about the parts without a checksum. SQLite has no checksums at all."""
        return "SQLite has no checksums of messages"

    def channels(self) -> dict[int, BagTopic]:
        """Return the topics by their id in the table `topics`. The table is read at the first call.

        `messages` uses the ids as channels.
        """
        if self._channels is None:
            self._channels = {
                number: BagTopic(topic, name, self._definition(name), encoding)
                for number, topic, name, encoding in self._rows(
                    "topics", "id", name="text", type="text", serialization_format="text"
                )
            }
            self._damage_of_topics = self.damage
        return self._channels

    def messages(self, wanted: Collection[int] | None) -> Iterator[Stored]:
        """Yield the messages of some topics, or of all, in the order of writing."""
        channels = self.channels()
        for channel, time, data in self._rows(
            "messages", "topic_id", timestamp="integer", data="blob"
        ):
            if channel in channels and (wanted is None or channel in wanted):
                yield Stored(channel, time, data)
        self.damage = self.damage or self._damage_of_topics

    def _definition(self, name: str) -> str | None:
        damage, result = self.damage, None
        columns = {"encoding": "text", "encoded_message_definition": "text"}
        for of, encoding, text in self._rows("message_definitions", "topic_type", **columns):
            if of == name:
                result = text if encoding == "ros2msg" else None
        self.damage = damage  # bags of older recorders have no such table
        return result

    def _rows(self, table: str, first: str, **kinds: str) -> Iterator[tuple]:
        """Yield the rows of a table up to the first damaged row.

        SQLite rolls back unfinished transactions. Rows of other types and rows that are too large
        are left out.
        """
        self.damage = ""
        try:
            with closing(self._opened()) as database:
                _refuse_programs(database, table)
                tests = " AND ".join(
                    f"typeof({column}) = '{kind}' AND length({column}) <= {limits.BAG_CHUNK}"
                    for column, kind in kinds.items()
                )
                columns = ", ".join((first, *kinds))
                query = f"SELECT {columns} FROM {table} NOT INDEXED WHERE {tests}"
                _bound_work(database, self.path.stat().st_size)
                yield from database.execute(query)
        except (*_ERRORS, OSError) as error:
            self.damage = str(error)

    def _opened(self) -> sqlite3.Connection:
        """Return a connection that reads the database with the journal of a killed recorder."""
        database = sqlite3.connect(self._address(), uri=True)
        try:
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except _ERRORS:
            database.close()
            raise
        return database

    def _address(self) -> str:
        """Return the address of the file, or of a copy in which SQLite can roll back."""
        journals = [self.path.with_name(f"{self.path.name}-{kind}") for kind in ("journal", "wal")]
        journals = [path for path in journals if path.is_file() and not _names_others(path)]
        if not journals:
            return f"file:{quote(str(self.path.absolute()))}?mode=ro&immutable=1"
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="hrpsim_bag_")
            for path in (self.path, *journals):
                shutil.copyfile(path, Path(self._folder.name) / path.name)
        return f"file:{quote(str(Path(self._folder.name) / self.path.name))}?mode=rw"


def _names_others(journal: Path) -> bool:
    """Return whether a journal names a further journal.

    SQLite deletes the further journal after the recovery. A hostile bag could name any file.
    """
    with journal.open("rb") as file:
        file.seek(max(journal.stat().st_size - len(_JOURNAL_END), 0))
        return file.read() == _JOURNAL_END


def _bound_work(database: sqlite3.Connection, size: int) -> None:
    """End a query with sqlite3.Error after more work than `size` bytes can require.

    Without this limit, pages that refer to each other would give endless rows. The limit follows
    from the size of a row, which is over 4 bytes.
    """
    done, most = count(), 100 + size // 1000
    database.set_progress_handler(lambda: next(done) > most, _WORK)


def _refuse_programs(database: sqlite3.Connection, table: str) -> None:
    """Raise sqlite3.Error unless `table` is a plain table without computed columns.

    Views, triggers and computed columns would run code from the file.
    """
    rows = database.execute(
        "SELECT type, rootpage FROM sqlite_master WHERE name = ? AND length(sql) < 10000", (table,)
    ).fetchall()
    if len(rows) != 1 or rows[0][0] != "table" or not rows[0][1]:
        raise sqlite3.DatabaseError(f"there is no table {table}")
    columns = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
    if any(hidden for *_, hidden in columns):
        raise sqlite3.DatabaseError(f"{table} has computed columns")
