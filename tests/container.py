"""Execute the build stage of deploy/Containerfile without a container engine: `python container.py [WHEEL]`.

What it copies is copied to a scratch directory, and its commands run there; /opt/byzmab is another scratch directory.
`make dist` runs it with the wheel that it has built.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTALLED = "/opt/byzmab"


def build_stage():
    """The instructions of the first stage, each with its arguments."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "deploy" / "Containerfile").read_text())
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    ends = [number for number, (name, _) in enumerate(lines) if name == "FROM"][1]
    return lines[:ends]


def copy(arguments, context):
    """What COPY does: files go into a directory, and what is in a directory, too; a pattern may find nothing."""
    *sources, target = arguments.split()
    (context / target).mkdir(parents=True, exist_ok=True)
    for source in (found for pattern in sources for found in ROOT.glob(pattern)):
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, context / target, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy2(source, context / target)


def main():
    """Build, then run the program that was installed."""
    with tempfile.TemporaryDirectory() as directory:
        context, installed = Path(directory) / "build", Path(directory) / "opt"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        for name, arguments in build_stage():
            if name == "ARG":
                key, _, value = arguments.partition("=")
                environment[key] = sys.argv[1] if sys.argv[1:] else value
            elif name == "COPY":
                copy(arguments, context)
            elif name == "RUN":
                command = arguments.replace(INSTALLED, str(installed))
                subprocess.run(
                    ["sh", "-ec", command], cwd=context, env=environment, check=True, stdout=subprocess.DEVNULL
                )
        subprocess.run([installed / "bin" / "byzmab", "node", "--help"], cwd=directory, env=environment, check=True)


if __name__ == "__main__":
    main()
