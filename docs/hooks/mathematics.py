"""Formulas of the documentation as MathML, made when the site is built: browsers draw it, and nothing is fetched."""

import re
from html import unescape

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(html, **_):
    """Put MathML in the place of every formula that pymdownx.arithmatex has marked."""
    return FORMULA.sub(_drawn, html)


def _drawn(found):
    formula = unescape(found[2])
    if found[1] == "span":
        return convert(formula, display="inline")
    return f'<div style="margin: 0.8em 0; overflow-x: auto">{convert(formula, display="block")}</div>'
