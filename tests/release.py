"""Check that everything that names the version names the same one. `make release-check TAG=v1.2.3` runs it before a release.

The version stands in pyproject.toml; CITATION.cff and the newest section of CHANGELOG.md repeat it for people.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def versions():
    """Return who names which version; the changelog's may still be marked as unreleased."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    changelog = re.search(r"^## (\S+)(?: \((.*)\))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    return {"pyproject.toml": project["version"], "CITATION.cff": citation[1], "CHANGELOG.md": changelog[1]}, changelog[
        2
    ]


def main(tag=""):
    """End with a sentence where versions differ, or where a tag is for another version or one that is not dated."""
    named, status = versions()
    if len(set(named.values())) > 1:
        sys.exit("versions differ: " + ", ".join(f"{file} {version}" for file, version in named.items()))
    version = named["pyproject.toml"]
    if tag and tag != f"v{version}":
        sys.exit(f"tag {tag} is not for version {version}; allowed: v{version}")
    if tag and status == "unreleased":
        sys.exit(f"CHANGELOG.md marks {version} as unreleased; write its date there")
    print(f"version {version}")


if __name__ == "__main__":
    main(*sys.argv[1:])
