"""Logs of a node: one line of JSON for each thing worth telling, or plain text for people."""

import json
import logging
import sys
from typing import Any, Literal

# what every record has; the rest is what the caller adds
PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "color_message", "taskName"}


def _added(record: logging.LogRecord) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in PLAIN}


class JsonLines(logging.Formatter):
    """One JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= {"from": record.name, **_added(record)}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class Text(logging.Formatter):
    """Time, level, what happened, and what was added."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        added = " ".join(f"{key}={value}" for key, value in _added(record).items())
        line = f"{self.formatTime(record)} {record.levelname.lower()} {record.getMessage()} {added}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def begin(kind: Literal["json", "text"]) -> None:
    """Log to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if kind == "json" else Text())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.ERROR)  # what strangers send is no news
