"""Writes requirements.txt again, with the hashes of the wheels of its pins: change a version there, then run this with pip 23 or newer.

Every package that the clients import is pinned, and no other: packages that their dependencies name and that no speech-to-text
client loads are left out, which saves most of the download.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PINS = Path(__file__).with_name("requirements.txt")
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_14_0_arm64")
OLDER = {
    "manylinux_2_28_x86_64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_5_x86_64", "manylinux1_x86_64"),
    "manylinux_2_28_aarch64": ("manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "macosx_14_0_arm64": ("macosx_12_0_arm64", "macosx_11_0_arm64", "macosx_10_9_universal2"),
}


def wheels(pins: list[str], python: str, platform: str) -> dict[str, str]:
    """The hash of the wheel of each pin."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as plain:
        plain.write("\n".join(pins))
        plain.flush()
        fitting = [arg for name in (platform, *OLDER[platform]) for arg in ("--platform", name)]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"]
        command += ["--only-binary", ":all:", "--report", "-", "--target", "none", "--python-version", python, *fitting]
        report = json.loads(subprocess.check_output([*command, "-r", plain.name]))
    return {
        item["metadata"]["name"].lower().replace("_", "-"): item["download_info"]["archive_info"]["hashes"]["sha256"]
        for item in report["install"]
    }


lines = PINS.read_text().splitlines()
header = [line for line in lines if line.startswith("#")]
pins = sorted({match[0] for line in lines if (match := re.match(r"[A-Za-z0-9._-]+==[^\s\\]+", line))}, key=str.lower)
hashes: dict[str, list[str]] = {pin: [] for pin in pins}
for python in PYTHONS:
    for platform in PLATFORMS:
        found = wheels(pins, python, platform)
        for pin in pins:
            sha = found[pin.split("==")[0].lower().replace("_", "-")]
            if sha not in hashes[pin]:
                hashes[pin].append(sha)
entries = [" \\\n".join([pin, *(f"    --hash=sha256:{sha}" for sha in hashes[pin])]) for pin in pins]
PINS.write_text("\n".join([*header, *entries]) + "\n")
