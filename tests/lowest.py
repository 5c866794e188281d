"""Print every dependency of pyproject.toml at its lower bound, as constraints for pip: see `make lowest`."""

import re
import tomllib
from pathlib import Path

OURS = "byzmab"


def requirements():
    """What byzmab and its extras for users need, each as name and lower bound, None where there is none."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name not in ("dev", "docs")}
    for text in (*project["dependencies"], *(need for needs in extras.values() for need in needs)):
        name, _, bound = text.partition(">=")
        if not name.startswith(OURS):
            yield name, bound or None


if __name__ == "__main__":
    for name, bound in requirements():
        print(f"{name}=={bound}" if re.fullmatch(r"[\d.]+", bound or "") else name)
