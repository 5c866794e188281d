"""Curves can be told apart: by colour-blind readers, in black and white, and the same on pages, in the report and in PDFs."""

import re
from itertools import combinations

import numpy as np
import pytest

from byzmab import Experiment, simulate
from byzmab.dashboard import pages
from byzmab.paper.figures import read_figure
from byzmab.paper.reproduction_report import DASHES
from byzmab.results.figure import ALONE, STYLES, save_figure

# Machado, Oliveira & Fernandes 2009, severity 1: linear RGB as it is seen
SEEN = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = XYZ.sum(axis=1)
FAR = 20.0  # ΔE*ab; 2.3 is just noticeable side by side, and thin lines stand apart


def lab(color, seen):
    """CIE L*a*b* of a hex colour as somebody sees it."""
    rgb = np.array([int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(XYZ @ (seen @ linear).clip(0.0, 1.0) / WHITE)  # all of them far above the linear part near black
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def palettes():
    """The colours of curves, alone last, in light and in dark."""
    text = (pages.STATIC / "style.css").read_text()
    found = [
        re.findall(r"--(?:curve-\d|solo): (#[0-9a-f]{6})", part) for part in text.split("prefers-color-scheme: dark")
    ]
    return {"light": found[0], "dark": found[1]}


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_any_two_curves_differ_for_every_reader(scheme, seen):
    colors = palettes()[scheme]
    assert len(colors) == 7
    nearest = min(combinations(colors, 2), key=lambda pair: distance(*pair, SEEN[seen]))
    assert distance(*nearest, SEEN[seen]) > FAR, nearest


def distance(one, other, seen):
    return float(np.linalg.norm(lab(one, seen) - lab(other, seen)))


def test_pages_report_and_pdf_have_the_same_colours():
    assert [color for color, _ in STYLES] + [ALONE[0]] == palettes()["light"]
    assert len(DASHES) == len(STYLES)


def test_solo_alone_is_dotted():
    assert "dot" not in DASHES and ":" not in [dashes for _, dashes in STYLES]
    assert ALONE[1] not in [dashes for _, dashes in STYLES]
    script = (pages.STATIC / "lab-results.js").read_text()
    assert re.search(r"const DASHES = (\[[^\]]*\])", script)[1].replace('"', "'") == str(list(DASHES))


def test_fonts_in_pdfs_are_whole(tmp_path):
    axes = simulate(Experiment(horizon=20, runs=2)).plot()
    save_figure(axes, tmp_path / "figure")
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/TrueType" in pdf or b"/Type0" in pdf


@pytest.mark.parametrize("id", ["F11", "F12"])
def test_whiskers_are_explained(id):
    assert "whiskers: one standard deviation over runs" in read_figure(id).caption()


def test_curves_of_another_policy_are_held_against_that_policy_alone():
    figure = read_figure("F10", runs=2, horizon=20)
    alone = figure.counterparts()
    assert alone == {"ucb": "solo", "tuned": "solo, tuned", "greedy": "solo, greedy", "softmax": "solo, softmax"}
    assert {label: figure.all_experiments()[label].policy for label in alone.values()} == {
        "solo": "ucb",
        "solo, tuned": "tuned",
        "solo, greedy": "greedy",
        "solo, softmax": "softmax",
    }
