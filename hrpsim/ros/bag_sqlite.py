"""The rows of a bag in SQLite that can be read. Needs no ROS.

A database is a program in part: views, triggers and computed columns run when rows are read. Only
plain tables are read here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from hrpsim import limits
from hrpsim.ros.bag_contents import Channel, Stored

_JOURNAL_END = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  # after the name of a file beside the journal
_SMALLEST_ROW = 4  # bytes in a file
_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # an error that quotes a damaged schema is no text


class SqliteFile:
    """The messages of an SQLite file; `damage` says what the last reading could not read."""

    def __init__(self, path: Path):
        self.path = path
        self.damage = ""
        self._channels: dict[int, Channel] | None = None

    def channels(self) -> dict[int, Channel]:
        """Return the channel of each topic."""
        if self._channels is None:
            self._channels = {
                number: Channel(topic, name, self._definition(name), encoding)
                for number, topic, name, encoding in self._rows(
                    "topics", "id", name="text", type="text", serialization_format="text"
                )
            }
        return self._channels

    def messages(self, wanted: Collection[int] | None) -> Iterator[Stored]:
        """Yield the messages of some topics, or of all, as they were written."""
        channels = self.channels()
        for channel, time, data in self._rows(
            "messages", "topic_id", timestamp="integer", data="blob"
        ):
            if channel in channels and (wanted is None or channel in wanted):
                yield Stored(channel, time, data)

    def _definition(self, name: str) -> str | None:
        kept, found = self.damage, None
        columns = {"encoding": "text", "encoded_message_definition": "text"}
        for of, encoding, text in self._rows("message_definitions", "topic_type", **columns):
            if of == name:
                found = text if encoding == "ros2msg" else None
        self.damage = kept  # bags of older recorders have no such table
        return found

    def _rows(self, table: str, first: str, **kinds: str) -> Iterator[tuple]:
        """Yield the rows of a table up to the first that is damaged.

        SQLite takes back what was not ended. Rows of other types or too large are left out.
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
                most = self.path.stat().st_size // _SMALLEST_ROW  # pages may be shared without end
                for number, row in enumerate(database.execute(query)):
                    if number > most:
                        raise sqlite3.DatabaseError("it has more rows than bytes")
                    yield row
        except _ERRORS as error:
            self.damage = str(error)

    def _opened(self) -> sqlite3.Connection:
        """Return a connection that sees what a recorder had handed over, if it was killed."""
        address = f"file:{quote(str(self.path.absolute()))}"
        modes = ["ro&immutable=1"] if _names_others(self.path) else ["rw", "ro&immutable=1"]
        failure: Exception = sqlite3.OperationalError("it cannot be opened")
        for mode in modes:
            with suppress(sqlite3.Error):
                database = sqlite3.connect(f"{address}?mode={mode}", uri=True)
                try:
                    database.execute("PRAGMA trusted_schema = OFF")
                    database.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    return database
                except _ERRORS as error:
                    failure = error
                    database.close()
        raise failure


def _names_others(path: Path) -> bool:
    """Whether a journal beside a database names a file that SQLite would delete."""
    journal = path.with_name(f"{path.name}-journal")
    if not journal.is_file():
        return False
    with journal.open("rb") as file:
        file.seek(max(journal.stat().st_size - len(_JOURNAL_END), 0))
        return file.read() == _JOURNAL_END


def _refuse_programs(database: sqlite3.Connection, table: str) -> None:
    """Raise sqlite3.Error unless `table` is a plain table without computed columns."""
    found = database.execute(
        "SELECT type, rootpage FROM sqlite_master WHERE name = ? AND length(sql) < 10000", (table,)
    ).fetchall()
    if len(found) != 1 or found[0][0] != "table" or not found[0][1]:
        raise sqlite3.DatabaseError(f"there is no table {table}")
    columns = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
    if any(hidden for *_, hidden in columns):
        raise sqlite3.DatabaseError(f"{table} has computed columns")
