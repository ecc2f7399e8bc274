# SPDX-License-Identifier: Apache-2.0
"""Checks what comes from the broker. A topic is trusted, because the broker lets a node publish only under its own name."""
import dataclasses
import datetime
import json
import re

LARGEST = 256 * 1024
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_STREAM = re.compile(r"[0-9a-f]{1,64}")
_KINDS = {"tag", "removed", "error", "outcome"}
_PREFIX = "org.opencorenfc."
# What may be an escape of a NUL or of half a character.
_ESCAPES = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class Rejected(Exception):
    """A message is not an event, with the reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    source: str
    id: str
    node: str
    reader: str
    stream: str
    sequence: int
    type: str
    time: datetime.datetime
    late: bool
    tag: str | None
    tag_id: str | None
    body: str
    # Numbers of events that the agent has dropped, first and last.
    dropped: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    node: str
    reader: str
    leaf: str


def place(root: str, topic: str) -> Place:
    """The node, the reader and the last part of a topic."""
    parts = topic.removeprefix(root + "/").split("/")
    if not topic.startswith(root + "/") or len(parts) != 3 or not all(_NAME.fullmatch(part) for part in parts[:2]):
        raise Rejected("the topic has no node and reader")
    return Place(*parts)


def parse(root: str, topic: str, payload: bytes) -> Event:
    """Reads an event, and checks that it says the same as its topic."""
    at = place(root, topic)
    body, text = _object(payload)
    data = body.get("data")
    if body.get("specversion") != "1.0" or not isinstance(data, dict):
        raise Rejected("it is not a CloudEvent 1.0")
    kind, source, identifier = (body.get(name) for name in ("type", "source", "id"))
    if not isinstance(kind, str) or not kind.startswith(_PREFIX) or kind.removeprefix(_PREFIX) not in _KINDS:
        raise Rejected("the type is unknown")
    stream, sequence = data.get("stream"), data.get("sequence")
    if not isinstance(stream, str) or not _STREAM.fullmatch(stream):
        raise Rejected("the stream has no name")
    if type(sequence) is not int or not 0 < sequence < 2**53:
        raise Rejected("the sequence is not a number")
    if source != f"/{root}/{at.node}/{at.reader}" or (data.get("node"), data.get("reader")) != (at.node, at.reader):
        raise Rejected("it names a different node or reader than its topic")
    if identifier != f"{stream}.{at.reader}.{sequence}":
        raise Rejected("the id is not made of stream, reader and sequence")
    return Event(
        source, identifier, at.node, at.reader, stream, sequence, kind, _time(body.get("time")), body.get("late") is True,
        _text(data.get("uid") or data.get("uid_hash")), _text(data.get("tag_id")), text, _dropped(data),
    )


def position(payload: bytes) -> tuple[str, int, int | None]:
    """The stream, the last number that was acknowledged, and the first that is kept."""
    body, _ = _object(payload)
    stream, last, first = body.get("stream"), body.get("sequence"), body.get("first")
    if not isinstance(stream, str) or not _STREAM.fullmatch(stream) or type(last) is not int or not 0 <= last < 2**53:
        raise Rejected("the position is not valid")
    # Without a first one, nothing is kept.
    return stream, last, first if type(first) is int and first > 0 else last + 1


def info(payload: bytes) -> str:
    """A node's information as text that PostgreSQL can use."""
    return _object(payload)[1]


def _object(payload: bytes) -> tuple[dict, str]:
    """An object, and its text for the database."""
    if len(payload) > LARGEST:
        raise Rejected("it is too large")
    try:
        text = payload.decode("utf-8")
        body = json.loads(text, parse_constant=_no_constant)
        # PostgreSQL takes these escapes, and fails when somebody reads the text. The bytes of a tag are in the event too.
        if _ESCAPES.search(text):
            body = _storable(body)
            text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise Rejected("it is not JSON") from None
    if not isinstance(body, dict):
        raise Rejected("it is not an object")
    return body, text


def _storable(value: object) -> object:
    """The same with text that PostgreSQL can store."""
    match value:
        case str():
            return _clean(value)
        case list():
            return [_storable(part) for part in value]
        case dict():
            return {_clean(name): _storable(part) for name, part in value.items()}
    return value


def _clean(text: str) -> str:
    """Text without NULs and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _no_constant(name: str):
    raise ValueError(name)


def _time(value: object) -> datetime.datetime:
    try:
        time = datetime.datetime.fromisoformat(value)
        if time.tzinfo is not None:
            return time.astimezone(datetime.timezone.utc)
    except (TypeError, ValueError, OverflowError):
        pass
    raise Rejected("the time has no zone, or is not a time")


def _text(value: object) -> str | None:
    return value[:256] if isinstance(value, str) else None


def _dropped(data: dict) -> tuple[int, int] | None:
    first, last = data.get("first"), data.get("last")
    if data.get("code") != "events-dropped" or type(first) is not int or type(last) is not int:
        return None
    return (first, last) if 0 < first <= last < 2**53 else None
