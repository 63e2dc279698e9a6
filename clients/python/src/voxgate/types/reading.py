"""JSON as the dataclasses that describe it. Members that this version does not know are passed over; values of a closed set are
taken as they are, since later versions may have more."""

import dataclasses
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

Read = Callable[[Any], Any]


def read(cls: type, data: object) -> Any:
    """Raises a ValueError for what is no such object."""
    return _reader(cls)(data)


def _same(value: Any) -> Any:
    return value


@cache
def _reader(kind: Any) -> Read:
    """What makes a value of this type of JSON."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _object_reader(kind)
    origin = typing.get_origin(kind)
    if origin is list:
        item = _reader(typing.get_args(kind)[0])
        return _same if item is _same else lambda value: [item(each) for each in value]
    if origin in (types.UnionType, typing.Union):
        return _union_reader(typing.get_args(kind))
    return _same


def _union_reader(members: tuple[Any, ...]) -> Read:
    """Of objects there is one in a union, beside None, or the word `type` tells which."""
    objects = [each for each in members if dataclasses.is_dataclass(each)]
    if len(objects) > 1:
        by_type = {_type_of(each): _reader(each) for each in objects}
        return lambda value: by_type.get(value.get("type"), _same)(value)
    readers = [reader for reader in map(_reader, members) if reader is not _same]
    if not readers:
        return _same
    [reader] = readers
    return lambda value: None if value is None else reader(value)


def _type_of(cls: Any) -> Any:
    return next((field.default for field in dataclasses.fields(cls) if field.name == "type"), None)


def _object_reader(cls: Any) -> Read:
    hints = typing.get_type_hints(cls)
    # A member whose name is a word of Python has a line below it.
    members = [(field.name, field.name.rstrip("_"), _reader(hints[field.name])) for field in dataclasses.fields(cls)]

    def reader(value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"{cls.__name__} is an object.")
        try:
            return cls(**{name: to(value[key]) for name, key, to in members if key in value})
        except (TypeError, AttributeError) as error:
            raise ValueError(f"This is no {cls.__name__}: {error}") from error

    return reader
