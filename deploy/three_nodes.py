"""Make settings, keys, certificates and tokens for the three nodes of compose.yaml: python three_nodes.py DIRECTORY.

All three are made by one person on one machine. Organisations that do not trust each other make their own keys.
"""

import os
import secrets
import sys
from pathlib import Path

from byzmab.node.certificates import Authority
from byzmab.node.config import Config, Http, HttpTls, Links, Neighbour, Tls, write_config
from byzmab.node.identity import Key

NAMES = ("alice", "bob", "carol")
ARMS = ("red", "green", "blue")
HOME, DATA = "/etc/byzmab", "/var/lib/byzmab"  # in the container
LINKS, HTTP = 7447, 8700  # ports there
USER = 1000  # of the container, unless somebody else than root makes the files


def settings(name: str, keys: dict[str, Key]) -> Config:
    """A node that hears the two others. With two neighbours nobody can be outvoted, so f = 0: they are trusted."""
    return Config(
        name=name,
        network="compose",
        key="node.key",
        data=f"{DATA}/data",
        arms=ARMS,
        f=0,
        http=Http(
            host="0.0.0.0",
            port=HTTP,
            token_file="token",
            tls=HttpTls(certificate="certificate.pem", private_key="certificate.key"),
        ),
        links=Links(
            listen=(f"tls/0.0.0.0:{LINKS}",),
            tls=Tls(authority="authority.pem", certificate="certificate.pem", private_key="certificate.key"),
        ),
        neighbours=tuple(
            # one of two connects: the one whose name comes first
            Neighbour(name=other, key=key.public, endpoint=f"tls/{other}:{LINKS}" if name < other else None)
            for other, key in keys.items()
            if other != name
        ),
    )


def main() -> None:
    """Write all files into a new directory."""
    if len(sys.argv) != 2:
        sys.exit("usage: python three_nodes.py DIRECTORY")
    directory = Path(sys.argv[1]).absolute()
    if directory.exists():
        sys.exit(f"{directory} exists already; allowed: a new directory, keys are never replaced")
    user, group = (os.getuid(), os.getgid()) if os.getuid() else (USER, USER)
    authority, keys = Authority("compose"), {name: Key.generate() for name in NAMES}
    for name, key in keys.items():
        home = directory / name / "settings"
        (directory / name / "data").mkdir(parents=True, mode=0o700)
        home.mkdir(mode=0o700)
        write_config(settings(name, keys), home / "node.toml")
        key.save(home / "node.key")
        authority.issue(name, (name, "localhost", "127.0.0.1"), home)
        token = home / "token"
        token.touch(mode=0o600)
        token.write_text(f"{secrets.token_urlsafe(24)}\n")
    (directory / "env").write_text(f"BYZMAB_NETWORK={directory}\nBYZMAB_USER={user}:{group}\n")
    if not os.getuid():
        for path in (directory, *directory.rglob("*")):
            os.chown(path, user, group)


if __name__ == "__main__":
    main()
