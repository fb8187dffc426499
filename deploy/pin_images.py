"""Asks registries for the digests of the images in deploy/compose.yaml: `make pin-images`.

Writes deploy/compose.pins.yaml, which pins each image of a registry and each base of a build by tag and digest. Writes
nothing if a registry does not answer.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent
COMPOSE, PINS = FOLDER / "compose.yaml", FOLDER / "compose.pins.yaml"
ASK = ("docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}")


class NoDigest(Exception):
    """The words of the registry, or of the tool that asks it."""


def digest_of(image: str) -> str:
    """The digest of the image's index. Raises NoDigest."""
    try:
        asked = subprocess.run([*ASK, image], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoDigest(f"{image}: {error}") from None
    digest = asked.stdout.strip()
    if asked.returncode or not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise NoDigest(f"{image}: {asked.stderr.strip() or 'no digest'}")
    return digest


def pinned(services: dict[str, Any]) -> dict[str, Any]:
    """The same services with nothing but their images and bases, by digest. Raises NoDigest."""
    pins: dict[str, Any] = {}
    known: dict[str, str] = {}

    def pin(image: str) -> str:
        if image not in known:
            known[image] = f"{image}@{digest_of(image)}"
        return known[image]

    for name, service in services.items():
        if "build" in service:
            bases = service["build"]["args"]
            pins[name] = {"build": {"args": {argument: pin(base) for argument, base in bases.items()}}}
        else:
            pins[name] = {"image": pin(service["image"])}
    return pins


def main() -> None:
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    try:
        pins = pinned(services)
    except NoDigest as error:
        sys.exit(f"No digest was written. {error}")
    words = "# Written by `make pin-images`: read it after compose.yaml.\n"
    PINS.write_text(words + yaml.safe_dump({"services": pins}, width=120), encoding="utf-8")
    sys.stdout.write(f"{PINS} is written.\n")


if __name__ == "__main__":
    main()
