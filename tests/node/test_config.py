"""NODE.toml: what is wrong is named, with its line."""

import pytest
from live import key_of, neighbour_of

from byzmab.core.errors import BadInput
from byzmab.node.config import Config, Http, Links, Neighbour, Tls, read_config, write_config

GOOD = """\
name = "alice"
network = "ads"
key = "alice.key"
data = "data"
arms = ["red", "green"]
"""
KEY = key_of(2).public


def written(tmp_path, text):
    (tmp_path / "node.toml").write_text(text)
    return tmp_path / "node.toml"


def test_five_lines_make_a_node(tmp_path):
    config = read_config(written(tmp_path, GOOD))
    assert (config.f, config.kappa, config.filter, config.policy) == ("auto", 1.5, "guarded", "moss")
    assert config.http.host == "127.0.0.1"
    assert config.key == str(tmp_path / "alice.key") and config.data == str(tmp_path / "data")


@pytest.mark.parametrize(
    ("wrong", "line", "said"),
    [
        ('fliter = "solo"', 6, "did you mean 'filter'"),
        ("f = -1", 6, "f -1 is not allowed; allowed: a whole number from 0 to 1000000, or auto"),
        ('f = "most"', 6, "f 'most' is not allowed"),
        ("f = 1.5", 6, "f: expected `int | str`"),
        ("kappa = 2.5", 6, r"kappa 2.5 is not allowed"),
        ('filter = "trimed"', 6, "did you mean 'trimmed'"),
        ('policy = "x"', 6, "policy 'x' is not known"),
        ("seed = -1", 6, "seed -1 is not allowed"),
        ("report_every = 0", 6, "report_every: expected `float` > 0"),
        ("default_reward = 0.5", 6, "default_reward needs reward_wait"),
        ('equivocators = "hang"', 6, "equivocators: invalid enum value"),
        ("[http]\nport = 70000", 7, "http.port"),
        ("[http]\nprot = 1", 7, "did you mean 'port'"),
        ('[http]\nhost = "0.0.0.0"', 7, "not loopback and needs http.token_file"),
        ('[links]\nlisten = "tcp/x:1"', 7, "links.listen: expected `array`"),
        ('[links]\nlisten = ["tls/x:1"]', 7, "not allowed without links.tls"),
        (f'[[neighbours]]\nname = "b"\nkey = "{KEY}"\nendpoint = "udp/x:1"', 9, "allowed: tcp/host:port"),
        ('[links.tls]\ncertificate = "c"', 6, "'links.tls.authority' is missing"),
        (
            f'[[neighbours]]\nname = "b"\nkey = "{KEY}"\n[[neighbours]]\nname = "c"\nkey = "x"',
            11,
            "key 'x' is not allowed",
        ),
        (f'[[neighbours]]\nname = "b"\nkey = "{KEY}"\n[[neighbours]]\nname = "c/d"\nkey = "{KEY}"', 10, "name 'c/d'"),
        ('[[neighbours]]\nname = "b"', 6, "'neighbours\\[0\\].key' is missing"),
        (f'[[neighbours]]\nname = "b"\nkey = "{KEY}"\nhear = true', 9, "did you mean 'hears'"),
        (
            f'[[neighbours]]\nname = "b"\nkey = "{KEY}"\n[[neighbours]]\nname = "b"\nkey = "{KEY}"',
            6,
            "two have the name 'b'",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, wrong, line, said):
    with pytest.raises(BadInput, match=said) as caught:
        read_config(written(tmp_path, GOOD + wrong + "\n"))
    assert f"line {line}: " in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("arms", ['["a"]', '["a", "a"]', "[1, 2]", '["a", ""]', "3", '["a", "\\u0000"]'])
def test_arms_that_cannot_be_are_named(tmp_path, arms):
    with pytest.raises(BadInput, match="line 5: arms"):
        read_config(written(tmp_path, GOOD.replace('["red", "green"]', arms)))


@pytest.mark.parametrize("text", ["name = ", "\x00", '[["', "a = 1\na = 2"])
def test_what_is_not_toml_is_said(tmp_path, text):
    with pytest.raises(BadInput, match="is not TOML"):
        read_config(written(tmp_path, text))


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_config(tmp_path / "none.toml")


def test_what_is_written_is_read_again(tmp_path):
    config = Config(
        name="alice",
        network="ads",
        key="/k",
        data="/d",
        arms=("red", 'gr"een\\', "blåu"),
        f=2,
        kappa=1.25,
        seed=2**60,
        reward_wait=3.5,
        default_reward=0.0,
        http=Http(port=0, host="::1", token_file="/t"),
        links=Links(listen=("tls/[::1]:7447",), tls=Tls(authority="/a", certificate="/c", private_key="/p")),
        neighbours=(neighbour_of(2, tells=False), Neighbour(name="x", key=key_of(3).public, endpoint="tls/h:1")),
    )
    write_config(config, tmp_path / "node.toml")
    assert read_config(tmp_path / "node.toml") == config
