"""Formulas of the documentation as MathML, made when the site is built: browsers draw it, and nothing is fetched."""

import re
from html import unescape

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
BEFORE_NAME = re.compile(r"(?<=[\w})])\s*(?=\\(?:ln|log|exp)\b)")  # of a function, behind a letter or a number
AFTER_NAME = re.compile(r"\\(ln|log|exp)\s+(?!\\left)(?=[\\\w])")  # and before a letter, not a bracket
SYMBOL = re.compile(  # in a sentence n_i, x̄_j, Δ_k, d_max; what stands in tags, code and formulas is left as it is
    r"<(code|pre|math|script|style)\b.*?</\1>|<[^>]*>|(?<![\w.])([A-Za-zΔλμδεφ][̄̂]?)_(max|[A-Za-z0-9ℓ]{1,2})\b",
    re.DOTALL,
)


def on_page_content(html, **_):
    """Put MathML in the place of every formula that pymdownx.arithmatex has marked, and indices below symbols."""
    return SYMBOL.sub(_with_index, FORMULA.sub(_drawn, html))


def _with_index(found):
    return f"<i>{found[2]}</i><sub>{found[3]}</sub>" if found[2] else found[0]


def _drawn(found):
    formula = _spaced(unescape(found[2]))
    if found[1] == "span":
        return convert(formula, display="inline")
    return f'<div style="margin: 0.8em 0; overflow-x: auto">{convert(formula, display="block")}</div>'


def _spaced(formula):
    """The formula with thin spaces beside the names of functions, which MathML sets close to letters: `2 ln t`."""
    return AFTER_NAME.sub(r"\\\1\\, ", BEFORE_NAME.sub(r"\\, ", formula))
