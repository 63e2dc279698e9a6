"""Clients as docs/guides/other-clients.md has them: its lines are run, for another gateway."""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from .job import Job

PAGE = Path(__file__).parents[4] / "docs" / "guides" / "other-clients.md"


@cache
def lines_of(package: str) -> str:
    """The first Python block below the heading that names the package."""
    heading = rf"^### [^\n]*`{re.escape(package)}`[^\n]*\n+```python\n(.*?)```"
    found = re.search(heading, PAGE.read_text(), re.MULTILINE | re.DOTALL)
    if found is None:
        raise LookupError(f"{PAGE} has no lines for {package}.")
    return found[1]


def documented(package: str, job: Job) -> SimpleNamespace:
    """What the lines define, with the address, the key, the model and the sample rate of a job."""
    lines = lines_of(package)
    for shown, meant in {
        "https://your-gateway": job.url,
        "wss://your-gateway": job.socket_url,
        '"deepgram/nova-3"': repr(job.model),
        "sample_rate=16000": f"sample_rate={job.sample_rate}",
    }.items():
        lines = lines.replace(shown, meant)
    names = {"key": job.key}
    exec(lines, names)
    return SimpleNamespace(**names)
