"""Check our English: words that we agreed on, and sentences that are read once. A step of `make check`.

`python tests/prose.py [FILE ...]` prints each finding as file:line, the reason and the text, and ends with 1 if there
is any. Prose is the text of README, docs and the newest section of the changelog, and all docstrings of the package;
code, tables, formulas and headings are left out.
"""

import ast
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LONGEST = 30  # words in a sentence; STYLE asks for 25, and a name or a formula may add a few

# what stood in our prose, and what to write instead
WORDS = {
    r"\bwho (?:believes|filters|listens|lies|hears|tells)\b": "a subject: 'an agent that ...'",
    r"\bwhoever\b": "'an agent that', 'anyone who'",
    r"\bliars?\b": "Byzantine agent",
    r"\bnormal agents?\b": "honest agent",
    r"\bpeers?\b": "neighbour",
    r"\bbaselines?\b": "algorithm",
    r"\bthe same luck\b": "the same random numbers",
    r"\bby luck\b": "by chance",
    r"\blead(?:s|ing)? astray\b|\bled astray\b": "'mislead', or say what happens",
    r"\breckons?\b": "'counts on', 'assumes'",
    r"\bthat is none\b": "'malformed', 'not a ...'",
    r"\bforetold\b|\bforetells?\b": "predict",
    r"\bforecasts?\b": "prediction",
    r"\bgo(?:es)? on where it was\b": "resume",
    r"\bis being alone\b": "solo",
    r"\bbeing alone\b": "solo, or 'an agent alone'",
    r"\bof one's own\b": "'your own', 'its own'",
    r"\bwhereto\b|\bwhom\b|\bwherein\b": "a plain relative clause",
    r"\btimes (?:more|less)\b": "'times as much', 'times as fast'",
}
STARTS = {
    r"The same\b": "name the thing again",
    r"What \w+ (?:is|are|was|were)\b": "a subject",
    r"Whether who\b": "a subject",
}


class Finding(NamedTuple):
    """One place to rewrite."""

    file: Path
    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.reason}: {self.text}"


def paragraphs(text):
    """Yield the first line's number and the text of each paragraph of Markdown; code, tables and headings are left out."""
    lines, start, in_code = [], 1, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        in_code = in_code != fence
        is_prose = not (in_code or fence or line.lstrip().startswith(("|", "#", "<", "$$", "!!!", "![", ":::")))
        item = bool(re.match(r"\s*(?:[-*]|\d+\.)\s", line))
        if lines and (not is_prose or not line.strip() or item):
            yield start, " ".join(lines)
            lines = []
        if is_prose and line.strip():
            start = number if not lines else start
            lines.append(re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", line.strip()))


def docstrings(text):
    """Yield the line and the text of each paragraph of the docstrings of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node)
            if docstring:
                first = node.body[0].lineno
                prose = re.sub(r"^ {4,}.*$|^(>>>|\.\.\.) .*$|^-{3,}$", "", docstring, flags=re.M)
                for line, paragraph in paragraphs(prose):
                    yield first + line - 1, paragraph


def plain(paragraph):
    """Return a paragraph without code, formulas, links' addresses and numbers' separators, which are no words."""
    text = re.sub(r"`[^`]*`", "CODE", paragraph)
    text = re.sub(r"\$[^$]*\$|\\\(.*?\\\)", "FORMULA", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def findings_in(file):
    """Yield what is to be rewritten in a file."""
    text = file.read_text()
    if file.name == "CHANGELOG.md":
        text = re.split(r"^## ", text, flags=re.M)[1]
    for line, paragraph in docstrings(text) if file.suffix == ".py" else paragraphs(text):
        words = plain(paragraph)
        for pattern, instead in WORDS.items():
            for found in re.finditer(pattern, words, re.I):
                yield Finding(file, line, f"write {instead}", found[0])
        for sentence in re.split(r"(?<=[.:;?!])\s+", words):
            for pattern, instead in STARTS.items():
                if re.match(pattern, sentence):
                    yield Finding(file, line, f"begin with {instead}", sentence[:60])
            if len(sentence.split()) > LONGEST:
                yield Finding(file, line, f"{len(sentence.split())} words, at most {LONGEST}", sentence[:60])


def main(names):
    """Print the findings in some files, or in all; end with 1 if there are any."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    files = [Path(name).resolve() for name in names] or [*pages, *sorted((ROOT / "src").rglob("*.py"))]
    findings = [finding for file in files for finding in findings_in(file)]
    print(*findings, sep="\n", end="\n" if findings else "")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
