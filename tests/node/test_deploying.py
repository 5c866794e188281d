"""The files for running a node as a service: systemd accepts the unit, and the container file holds together."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FILES = Path(__file__).parents[2] / "examples" / "node"
INSTRUCTIONS = {"FROM", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path):
    text = (FILES / "byzmab.service").read_text()
    unit = tmp_path / "byzmab@.service"
    unit.write_text(text.replace("/opt/byzmab/bin/byzmab", "/bin/echo"))  # there is no byzmab in /opt here
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if "byzmab" in line]
    assert done.returncode == 0 and not complaints, done.stderr
    unit.write_text(text.replace("/opt/byzmab/bin/byzmab", "/bin/echo").replace("UMask=", "UMaks="))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "UMaks" in done.stderr, "a mistake would be found"


def instructions():
    """The instructions of the container file, each with its arguments."""
    text = re.sub(r"\\\n\s*", "", (FILES / "Containerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.split(maxsplit=1) for line in lines]


def test_the_container_file_holds_together():
    found = instructions()
    names = [name for name, _ in found]
    assert names[0] == "FROM" and set(names) <= INSTRUCTIONS and names.count("ENTRYPOINT") == 1
    assert ":" in found[0][1], "an image without a tag is another one tomorrow"
    arguments = dict(found)
    assert names.index("USER") > max(index for index, name in enumerate(names) if name == "RUN")
    assert arguments["USER"] not in ("root", "0")
    assert json.loads(arguments["ENTRYPOINT"])[:2] == ["byzmab", "node"]
    code = json.loads(arguments["HEALTHCHECK"].removeprefix("CMD "))
    compile(code[2], "HEALTHCHECK", "exec")
    for directory in (arguments["VOLUME"], arguments["ENV"].partition("=")[2]):
        assert f" {directory}" in arguments["RUN"], "made for its user before it is used"
