"""Reading option values: the text of a flag becomes what an experiment file would hold."""

from byzmab.core.errors import BadInput


def number(name: str, text: str) -> float:
    """A number, or the sentence that names the option."""
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{name} {text!r} is not allowed; allowed: numbers, separated by commas where several") from None


def numbers_or_word(name: str, text: str | None, word: str) -> str | float | list[float] | None:
    """Comma-separated numbers as a list, one as itself, or a text that begins with a word."""
    if text is None or text.startswith(word):
        return text
    values = [number(name, part) for part in text.split(",")]
    return values if len(values) > 1 else values[0]


def several(text: str | None) -> str | list[str] | None:
    """Comma-separated texts as a list, one as itself."""
    return text.split(",") if text and "," in text else text
