"""A node under a supervisor such as systemd: what it tells it, and with which codes it ends."""

import os
import signal
import socket

import pytest
from command import Forked, byzmab
from live import Process
from waiting import until

from byzmab.node.config import Http, Links, write_config
from byzmab.node.faults import TRY_AGAIN

NOT_HERE = "192.0.2.1"  # of a network for documentation: no machine has it


class Systemd:
    """The end of a notify socket at which systemd listens."""

    def __init__(self, address, watchdog):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self.socket.settimeout(0.2)
        self.environment = {**os.environ, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": str(int(watchdog * 1e6))}
        self.told = []

    def hear(self):
        """Take in what was told meanwhile; what was told now, signs of life apart, and how many of these came."""
        signs, told = 0, []
        try:
            while True:
                text = self.socket.recv(4096).decode()
                signs += text == "WATCHDOG=1"
                told += [] if text == "WATCHDOG=1" else [text.split("\n")[0]]
        except TimeoutError:
            self.told += told
            return signs


class Supervised(Process):
    """A node that was started with a notify socket."""

    def __init__(self, number, directory, systemd):
        super().__init__(number, directory)
        self._systemd = systemd

    def spawn(self):
        self.popen = Forked(["node", self.file], self.log, environment=self._systemd.environment)


@pytest.mark.parametrize("abstract", [False, True], ids=["path", "abstract"])
def test_the_supervisor_is_told_of_start_reload_and_stop(tmp_path, abstract):
    systemd = Systemd(f"@byzmab-{os.getpid()}" if abstract else str(tmp_path / "notify"), watchdog=600)
    node = Supervised(1, tmp_path, systemd).start()
    until(lambda: systemd.hear() or systemd.told == ["READY=1"])
    node.signal(signal.SIGHUP)
    until(lambda: systemd.hear() or systemd.told == ["READY=1", "RELOADING=1", "READY=1"])
    node.file.write_text("this is no node")
    node.signal(signal.SIGHUP)
    until(lambda: systemd.hear() or systemd.told[3:] == ["RELOADING=1", "READY=1"])
    assert node.stop() == 0
    systemd.hear()
    assert systemd.told[5:] == ["STOPPING=1"]


def test_a_node_that_hangs_gives_no_sign_of_life(tmp_path):
    systemd = Systemd(str(tmp_path / "notify"), watchdog=0.3)
    node = Supervised(1, tmp_path, systemd).start()
    until(lambda: systemd.socket.recv(4096) == b"WATCHDOG=1")
    node.signal(signal.SIGSTOP)
    systemd.socket.settimeout(1.0)
    systemd.hear()  # until nothing came for a second, three times the limit
    node.signal(signal.SIGCONT)
    until(lambda: systemd.socket.recv(4096) == b"WATCHDOG=1")
    node.kill()


@pytest.mark.parametrize("where", ["http", "links"])
def test_an_address_that_is_not_there_yet_is_tried_again(tmp_path, where):
    node = Process(1, tmp_path)
    if where == "http":
        (tmp_path / "token").write_text("sixteen signs and more")
        (tmp_path / "token").chmod(0o600)
        node.config.http = Http(host=NOT_HERE, token_file=str(tmp_path / "token"))
    else:
        node.config.links = Links(listen=(f"tcp/{NOT_HERE}:7447",))
    write_config(node.config, node.file)
    done = byzmab("node", node.file, code=TRY_AGAIN)
    assert NOT_HERE in done.stderr and "annot assign requested address" in done.stderr


def test_a_data_directory_that_cannot_be_is_not_tried_again(tmp_path):
    node = Process(1, tmp_path)
    node.config.data = str(node.directory / "node.key" / "below-a-file")
    write_config(node.config, node.file)
    assert "cannot be used: Not a directory" in byzmab("node", node.file, code=2).stderr
