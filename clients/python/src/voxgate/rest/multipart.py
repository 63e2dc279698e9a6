"""The form of an upload, written piece by piece: memory stays flat whatever the file's size. Which fields there are is decided by
calls.py."""

import io
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import quote

from ..errors import invalid_option

# What can be transcribed: a path, bytes, an open binary file, or pieces of bytes. What can be read once only is never sent again.
FileInput = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Iterable[bytes]

_PIECE_BYTES = 65_536


class SourceError(Exception):
    """Reading the file failed; the cause is what was raised."""


@dataclass(frozen=True, slots=True)
class Body:
    pieces: Iterable[bytes]
    """Raises a SourceError where the file cannot be read."""
    length: int | None
    """Bytes; None where nobody knows before the end."""
    content_type: str


@dataclass(frozen=True, slots=True)
class _Source:
    open: Callable[[], tuple[Iterator[bytes], int | None]]
    """The bytes from their beginning, and how many there are."""
    is_repeatable: bool
    name: str | None


@dataclass(frozen=True, slots=True)
class Upload:
    is_repeatable: bool
    make: Callable[[], Body]
    """A body; each attempt has its own. Raises what opening the file raises."""


def upload_of(
    fields: Sequence[tuple[str, str]], file: FileInput, file_name: str | None, content_type: str | None
) -> Upload:
    """Fields go before the file, so that the gateway knows what to do with the bytes as they come."""
    source = _source_of(file)
    name = file_name or source.name or "audio"
    type_ = " ".join((content_type or "application/octet-stream").splitlines())

    def make() -> Body:
        boundary = f"voxgate-{secrets.token_hex(16)}"
        pieces, length = source.open()
        own = f'Content-Disposition: form-data; name="file"; filename="{_quoted(name)}"\r\nContent-Type: {type_}\r\n\r\n'
        head = f"{_heads(fields, boundary)}--{boundary}\r\n{own}".encode()
        tail = f"\r\n--{boundary}--\r\n".encode()
        whole = None if length is None else len(head) + length + len(tail)
        return Body(_form(head, pieces, tail), whole, f"multipart/form-data; boundary={boundary}")

    return Upload(source.is_repeatable, make)


def upload_without_file(fields: Sequence[tuple[str, str]]) -> Upload:
    """The form where the address of the audio is one of the fields."""

    def make() -> Body:
        boundary = f"voxgate-{secrets.token_hex(16)}"
        content = f"{_heads(fields, boundary)}--{boundary}--\r\n".encode()
        return Body((content,), len(content), f"multipart/form-data; boundary={boundary}")

    return Upload(True, make)


def _heads(fields: Sequence[tuple[str, str]], boundary: str) -> str:
    start = f"--{boundary}\r\nContent-Disposition: form-data; "
    return "".join(f'{start}name="{key}"\r\n\r\n{value}\r\n' for key, value in fields)


def _form(head: bytes, pieces: Iterator[bytes], tail: bytes) -> Iterator[bytes]:
    yield head
    while True:
        try:
            piece = next(pieces, None)
        except Exception as error:
            raise SourceError from error
        if piece is None:
            break
        # An empty one would end a body that goes by pieces.
        if len(piece) > 0:
            yield piece
    yield tail


def _source_of(file: Any) -> _Source:
    if isinstance(file, (bytes, bytearray, memoryview)):
        view = memoryview(file).cast("B")
        return _Source(lambda: (_read(io.BytesIO(view), len(view)), len(view)), True, None)
    if isinstance(file, (str, os.PathLike)):
        return _Source(lambda: _opened(os.fspath(file)), True, os.path.basename(os.fspath(file)))
    if callable(getattr(file, "read", None)) and not isinstance(file, io.TextIOBase):
        return _file_source(file)
    if isinstance(file, Iterable) and not isinstance(file, io.TextIOBase):
        return _Source(lambda: (map(_bytes_of, file), None), False, None)
    raise invalid_option("file", "`file` is a path, bytes, a file that was opened as binary, or pieces of bytes.")


def _file_source(file: Any) -> _Source:
    name = getattr(file, "name", None)
    name = os.path.basename(name) if isinstance(name, str) else None
    if not (hasattr(file, "seekable") and file.seekable()):
        return _Source(lambda: (_read(file, None), None), False, name)
    start = file.tell()

    def open_again() -> tuple[Iterator[bytes], int]:
        length = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        return _read(file, length), length

    return _Source(open_again, True, name)


def _opened(path: str) -> tuple[Iterator[bytes], int]:
    file = open(path, "rb")
    length = os.fstat(file.fileno()).st_size

    def pieces() -> Iterator[bytes]:
        with file:
            yield from _read(file, length)

    return pieces(), length


def _read(file: Any, length: int | None) -> Iterator[bytes]:
    """As many bytes as were there when the body was begun: the length was told by then."""
    left = length
    while left is None or left > 0:
        piece = _bytes_of(file.read(_PIECE_BYTES if left is None else min(_PIECE_BYTES, left)))
        if not piece:
            break
        left = None if left is None else left - len(piece)
        yield piece
    if left:
        raise ValueError(f"The file became {left} bytes shorter while it was read.")


def _bytes_of(piece: Any) -> bytes:
    if isinstance(piece, (bytes, bytearray, memoryview)):
        return bytes(piece)
    raise invalid_option("file", f"`file` gave {type(piece).__name__}; it gives bytes.")


def _quoted(name: str) -> str:
    """As browsers write a file's name."""
    return "".join(quote(each) if each in '"\r\n' else each for each in name)
