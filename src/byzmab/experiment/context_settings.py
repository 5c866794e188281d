"""The settings of an experiment with contexts, checked: arms as parameters or data, contexts, shares."""

import hashlib
import json
import math
import zipfile
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.contexts.model import context_model
from byzmab.core.contexts.reports import EXACT, LEAST_LENGTH, MOST_DIMENSIONS, MOST_LENGTH
from byzmab.core.contexts.statistics import NEUTRAL, ROUNDING
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats

ALIKE, LEANING = "alike", "leaning"
USUAL_LEAN, MOST_LEAN = 2.0, 1e6
USUAL = {"contexts": ALIKE, "ridge": 1.0, "shares": "equal", "vetting": True}  # what needs a context, and its default
WITHOUT = {"epoch": 1, "spread": 0.0, "drift": "none", "tally": "all"}  # what a context does not go with
DIGEST_LETTERS = 12  # of a file of data, in settings
ARRAYS = "arrays `contexts`, rows × d, each longer than 0 and up to 1, and `means`, rows × two or more arms, in [0, 1]"
BROKEN = (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)  # of files that are none
FORMS = "random:K, means, rows of d parameters, FILE.json with such rows, or FILE.npz with contexts and means"


class Data(NamedTuple):
    """Contexts from a file, and the mean of every arm at each of them."""

    source: str  # the file's name, and a digest of what it holds
    contexts: Floats  # rows × d
    means: Floats  # rows × arms


class ContextParts(NamedTuple):
    """What an experiment with contexts has besides the rest."""

    d: int
    arms: int
    parameters: tuple[tuple[float, ...], ...] | None  # θ of every arm; None where they are drawn in every run, or data
    data: Data | None
    lean: float  # how much the contexts of an agent lean to its own direction
    ridge: float
    shares: int
    vetting: bool


def resolve_contexts(experiment: Any) -> ContextParts | None:
    """The settings of contexts, or None where there are none; BadInput where they make no sense."""
    d = experiment.context
    if isinstance(d, bool) or not isinstance(d, int) or not 0 <= d <= MOST_DIMENSIONS:
        raise BadInput(f"context {d!r} is not allowed; allowed: 0 to {MOST_DIMENSIONS} dimensions")
    if d == 0:
        for name, usual in USUAL.items():
            if getattr(experiment, name) != usual:
                raise BadInput(f"{name} {getattr(experiment, name)!r} needs a context; allowed without: {usual!r}")
        return None
    for name, only in WITHOUT.items():
        if getattr(experiment, name) != only:
            raise BadInput(f"{name} {getattr(experiment, name)!r} does not go with context; allowed: {only}")
    if not isinstance(experiment.byzantine, int):
        raise BadInput(f"byzantine {experiment.byzantine!r} does not go with context; allowed: a number")
    arms, parameters, data = _resolve_arms(experiment.arms, d)
    lean = _lean_of(experiment.contexts)
    if data is not None and experiment.contexts != ALIKE:
        raise BadInput(f"contexts {experiment.contexts!r} does not go with data, whose rows they are; allowed: {ALIKE}")
    model = context_model(d, experiment.ridge, experiment.shares, experiment.vetting)
    return ContextParts(d, arms, parameters, data, lean, model.ridge, model.way, model.vetting)


def constant_of_drawn(d: int) -> Floats:
    """The vector whose product with every drawn context is 1."""
    constant = np.zeros(d)
    constant[0] = math.sqrt(2.0) if d > 1 else 1.0
    return constant


def constant_of(contexts: ContextParts) -> Floats:
    """The vector whose product with each drawn context is 1; for data, that whose product with each is nearest to 1."""
    if contexts.data is None:
        return constant_of_drawn(contexts.d)
    ones = np.ones(len(contexts.data.contexts))
    return np.asarray(np.linalg.lstsq(contexts.data.contexts, ones)[0], np.float64)


def _lean_of(contexts: Any) -> float:
    name, colon, text = contexts.partition(":") if isinstance(contexts, str) else ("", "", "")
    if name == ALIKE and not colon:
        return 0.0
    try:
        lean = float(text) if colon else USUAL_LEAN
    except ValueError:
        lean = math.nan
    if name == LEANING and 0.0 <= lean <= MOST_LEAN:
        return lean
    allowed = f"{ALIKE}, {LEANING}, or {LEANING}:s with s from 0 to {MOST_LEAN:g}"
    raise BadInput(f"contexts {contexts!r} is not allowed; allowed: {allowed}")


def _resolve_arms(arms: Any, d: int) -> tuple[int, tuple[tuple[float, ...], ...] | None, Data | None]:
    """How many arms there are, and their parameters or data."""
    if isinstance(arms, str):
        name, _, text = arms.partition(":")
        if name == "random" and text.isdecimal() and 2 <= int(text) <= 10_000:
            return int(text), None, None
        if name.endswith(".npz"):
            data = read_data(name, text, d)
            return data.means.shape[1], None, data
        if not arms.endswith(".json"):
            raise BadInput(f"arms {arms!r} is not allowed; allowed with context: {FORMS}")
        arms = _read_rows(arms)
    if not isinstance(arms, Sequence) or len(arms) < 2:
        raise BadInput(f"arms {arms!r} is not allowed; allowed with context: two or more of {FORMS}")
    parameters = tuple(_parameters_of(arm, d) for arm in arms)
    return len(parameters), parameters, None


def _parameters_of(arm: Any, d: int) -> tuple[float, ...]:
    """θ of an arm: d numbers, or a mean that is the same at every context."""
    try:
        row = np.array(arm, np.float64)
    except (TypeError, ValueError, OverflowError):
        row = np.array([math.nan])
    if row.ndim == 0:
        row = (row - NEUTRAL) * constant_of_drawn(d)
    # at (1, u)/√2 the mean is ½ + (θ₁ + uᵀθ₂…)/√2, in one dimension ½ + θ
    share = math.sqrt(0.5) if d > 1 else 1.0
    fits = row.shape == (d,) and share * (abs(row[0]) + np.linalg.norm(row[1:])) <= NEUTRAL + ROUNDING
    if not fits:  # NaN compares false
        limit = "|θ₁| + ‖θ₂…‖ ≤ √½" if d > 1 else "|θ| ≤ ½"
        allowed = f"{d} numbers that keep all means in [0, 1], {limit}, or a mean"
        raise BadInput(f"arms have parameters {str(arm)[:80]}; allowed: {allowed}")
    return tuple(row.tolist())


def _read_rows(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"arms {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def read_data(path: str, digest: str, d: int) -> Data:
    """The data of a file, `contexts` (rows × d) and `means` (rows × arms), or BadInput; as they were with a digest."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"arms {path!r} cannot be read: {error.strerror}") from None
    found = hashlib.sha256(content).hexdigest()[:DIGEST_LETTERS]
    if digest not in ("", found):
        raise BadInput(f"arms {path!r} holds other data than {digest}; allowed: the file as it was, or its name alone")
    contexts, means = _arrays_of(path, found)
    if contexts.shape[1] != d:
        raise BadInput(
            f"context {d} does not go with arms {path!r}; allowed: {contexts.shape[1]}, as its contexts have"
        )
    return Data(f"{path}:{found}", contexts, means)


@lru_cache(maxsize=8)
def _arrays_of(path: str, digest: str) -> tuple[Floats, Floats]:
    """The two arrays of a file, checked; the digest is what makes another file another one."""
    try:
        with np.load(path, allow_pickle=False) as file:
            contexts, means = file["contexts"], file["means"]
    except BROKEN:
        raise BadInput(f"arms {path!r} is no whole file of numpy.savez with both arrays; allowed: {ARRAYS}") from None
    for name, array in (("contexts", contexts), ("means", means)):
        if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            shape = "×".join(map(str, array.shape)) or "1"
            raise BadInput(f"arms {path!r} has {name} of {shape} {array.dtype}, or not finite; allowed: {ARRAYS}")
    return _checked_data(path, contexts.astype(np.float64), means.astype(np.float64))


def _checked_data(path: str, contexts: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Return the arrays, checked row by row; a context that rounding made longer than 1 is cut to 1, as by an agent."""
    if not len(contexts) == len(means) > 0 or means.shape[1] < 2:
        found = f"{len(contexts)} contexts and means of {len(means)} rows and {means.shape[1]} arms"
        raise BadInput(f"arms {path!r} has {found}; allowed: {ARRAYS}")
    lengths = np.sqrt(np.square(contexts).sum(axis=1))
    for name, is_wrong in (
        ("a context that is longer than 1, or 0,", (lengths < LEAST_LENGTH) | (lengths > MOST_LENGTH)),
        ("a mean that is not in [0, 1]", ((means < 0.0) | (means > 1.0)).any(axis=1)),
    ):
        if is_wrong.any():
            raise BadInput(f"arms {path!r} has {name} in row {int(is_wrong.argmax()) + 1}; allowed: {ARRAYS}")
    return contexts / np.where(lengths > EXACT, lengths, 1.0)[:, None], means
