"""Print every dependency of pyproject.toml at its lower bound, as constraints for pip: see `make lowest`.

Where one has no lower bound, or one that cannot be installed as it stands, it ends with a sentence: see `make check`.
"""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

OURS = "byzmab"


def requirements():
    """What byzmab and its extras for users need, each once."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name not in ("dev", "docs")}
    texts = dict.fromkeys([*project["dependencies"], *(need for needs in extras.values() for need in needs)])
    return [need for need in map(Requirement, texts) if need.name != OURS]


def lower_bound(need):
    """The version from which on a dependency is allowed; None where it is not said, or said in another way."""
    bounds = [specifier.version for specifier in need.specifier if specifier.operator == ">="]
    return bounds[0] if len(bounds) == 1 else None


def main():
    """Print one line for each."""
    for need in requirements():
        if lower_bound(need) is None:
            sys.exit(f"{need} in pyproject.toml has no lower bound, as {need.name}>=1.0 has; try one by make lowest")
        print(f"{need.name}=={lower_bound(need)}")


if __name__ == "__main__":
    main()
