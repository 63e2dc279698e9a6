"""The options of `session.configure`, checked, and as the message that the gateway reads."""

import json
from collections.abc import Mapping
from typing import Any

from ..errors import VoxgateError
from ..options import ConfigureOptions, refuse_unknown, slug_of, texts_of

# So often the gateway takes it in one session.
CHANGES_MAX = 100

_NAMES = (*ConfigureOptions.__annotations__,)


def configure_message(changes: Mapping[str, Any]) -> dict[str, Any]:
    """None takes an option back. Raises an InvalidRequestError that names an option which cannot be changed."""
    refuse_unknown("configure", changes, ConfigureOptions)
    if "model" in changes:
        slug_of(changes["model"])
    taken = dict.fromkeys(name for name, value in changes.items() if value is None)
    texts = texts_of(changes, _NAMES)
    if "provider_params" in texts:
        # An object, and a copy: it may be sent again when the caller's own has other members.
        texts["provider_params"] = json.loads(texts["provider_params"])
    if texts.get("fallbacks") == "":
        texts["fallbacks"] = []
    return {"type": "configure", **texts, **taken}


def too_many_changes() -> VoxgateError:
    return VoxgateError(
        f"A session can be changed {CHANGES_MAX} times. Open another one for more.", code="too_many_changes"
    )
