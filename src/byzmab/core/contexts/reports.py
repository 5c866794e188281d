"""What agents tell each other where rewards depend on a context, and which of it no honest agent can tell.

Contexts are no longer than 1 and rewards lie in [0, 1], r − z₀ in [−½, ½]. So honest statistics (n, G, b) are finite,
G is symmetric and positive semidefinite with tr G ≤ n, ‖b‖ ≤ n/2, and bᵀG⁺b ≤ n/4: it is the squared length of a
projection of the n centred rewards. What a sender adds from one report to the next are the statistics of its new
pulls, and satisfies the same.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.contexts.statistics import derive, hear, row_size, slack_of
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats
from byzmab.core.tally import Arm, checked_name

MOST_DIMENSIONS = 512
LARGEST_REWARD = 0.5  # of |r − z₀|
LEAST_LENGTH = 1e-6  # of a context: the zero context says nothing, and nothing is learned from it
MOST_LENGTH = 1.0 + 1e-6  # as single precision, or six printed digits, may make of 1
EXACT = 1.0 + 1e-12  # what is no longer stays as it is: a context that is checked twice is the same
NUMBERS = "biufO"  # kinds of arrays, of objects that are numbers too


class ContextReport(NamedTuple):
    """What one agent reports on every arm at contexts; an honest agent reports its own statistics.

    Parameters
    ----------
    pulls
        Number of pulls of every arm, n.
    moments
        Σ x (r − ½) of every arm, b.
    grams
        Σ x xᵀ of every arm, G.
    arms
        The arms, in this order; empty for the receiver's own.
    """

    pulls: Floats  # arms: n
    moments: Floats  # arms × d: b
    grams: Floats  # arms × d × d: G
    arms: tuple[Any, ...] = ()  # which arms, in this order; empty: the hearer's own, in its order

    def as_rows(self) -> tuple[list[Any], list[float], list[Any], list[Any]]:
        """Arms, pulls, moments and Gram matrices as plain data; of every symmetric matrix the lower triangle alone."""
        triangles = [triangle_of(gram).tolist() for gram in np.asarray(self.grams)]
        return list(self.arms), np.asarray(self.pulls).tolist(), np.asarray(self.moments).tolist(), triangles

    @classmethod
    def from_rows(cls, arms: list[Any], pulls: list[float], moments: list[Any], grams: list[Any]) -> "ContextReport":
        """Return the report that `as_rows` took apart.

        Parameters
        ----------
        arms
            The arms.
        pulls
            Number of pulls of each.
        moments
            b of each.
        grams
            The lower triangle of G of each.
        """
        matrices = np.array([matrix_of(np.array(gram, float)) for gram in grams])
        return cls(np.array(pulls, float), np.array(moments, float), matrices, tuple(arms))

    def to_json(self) -> str:
        """The report as JSON; of every symmetric matrix the lower triangle alone."""
        return json.dumps(dict(zip(("arms", "pulls", "moments", "grams"), self.as_rows(), strict=True)))

    @classmethod
    def from_json(cls, text: str | bytes) -> "ContextReport":
        """The report that `to_json` wrote; BadInput if it is none. `checked_context_report` checks what it says.

        Parameters
        ----------
        text
            What `to_json` returned.

        Raises
        ------
        BadInput
            If the text is not a report.
        """
        try:
            told = json.loads(text)
            return cls.from_rows(told.get("arms", ()), told["pulls"], told["moments"], told["grams"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            allowed = '{"arms": [...], "pulls": [...], "moments": [[...]], "grams": [[...]]}'
            raise BadInput(f"report {text[:80]!r} is not allowed; allowed: JSON like {allowed}") from None


def triangle_of(matrix: Floats) -> Floats:
    """The lower triangle of a symmetric matrix, row by row: d (d + 1) / 2 numbers."""
    return np.asarray(matrix[np.tril_indices(len(matrix))])


def matrix_of(triangle: Floats) -> Floats:
    """The symmetric matrix whose lower triangle is given; ValueError for a number of entries that none has."""
    d = (math.isqrt(8 * triangle.size + 1) - 1) // 2
    if triangle.ndim != 1 or d * (d + 1) // 2 != triangle.size:
        raise ValueError(f"{triangle.size} numbers are no triangle")
    matrix = np.zeros((d, d))
    matrix[np.tril_indices(d)] = triangle
    return np.asarray(np.tril(matrix) + np.tril(matrix, -1).T)


def checked_context(x: Any, d: int) -> Floats:
    """A context as an array of its own, or BadInput: d finite numbers, together no longer than 1, and not 0.

    What rounding has made longer is made 1 long: in sums over many pulls it would be too much.
    """
    allowed = f"{d} finite number{'s' * (d > 1)} in a list, of norm above 0 and at most 1"
    try:
        given = np.asarray(x)
        context = np.array(given, np.float64) if given.dtype.kind in NUMBERS and given.ndim else None
    except (TypeError, ValueError, OverflowError):
        context = None
    if context is None:
        raise BadInput(f"context {str(x)[:80]!r} is not allowed; allowed: {allowed}")
    if context.shape != (d,):
        shape = "×".join(map(str, context.shape))
        raise BadInput(f"context of {shape} numbers is not allowed; allowed: {allowed}")
    length = math.hypot(*context.tolist())
    if not LEAST_LENGTH <= length <= MOST_LENGTH:  # NaN compares false
        fix = "a norm above 0 and at most 1, as byzmab.scale_contexts(contexts) returns"
        raise BadInput(f"context has norm {length:.8g}; allowed: {fix}")
    return context / length if length > EXACT else context


def scale_contexts(contexts: Any, largest: float | None = None) -> Floats:
    """Divide contexts by one number, so that none has a norm above 1.

    Contexts of a live agent are unbounded in general, but the guarantees need a norm of at most 1. Every context of
    an agent, and of its neighbours, must be divided by the same number.

    Parameters
    ----------
    contexts
        One context, or a list of them: an array with d numbers in its last dimension.
    largest
        The number to divide by: the largest norm that any context can have. If not given, the largest norm of these.

    Returns
    -------
    numpy.ndarray
        The contexts, divided by `largest`.

    Raises
    ------
    BadInput
        If a context is not made of finite numbers, or its norm is 0 or above `largest`.

    Examples
    --------
    >>> import byzmab
    >>> byzmab.scale_contexts([[3.0, 4.0], [0.0, 2.5]]).tolist()
    [[0.6, 0.8], [0.0, 0.5]]
    """
    try:
        given = np.atleast_1d(np.asarray(contexts, np.float64))
    except (TypeError, ValueError):
        raise BadInput(f"contexts {str(contexts)[:80]!r} are not allowed; allowed: lists of numbers") from None
    norms = np.linalg.norm(given, axis=-1)
    bound = float(norms.max()) if largest is None and norms.size else largest
    if not norms.size or bound is None or not np.isfinite(bound) or not (norms > 0.0).all() or norms.max() > bound:
        worst = float(norms.min()) if norms.size and not norms.min() > 0.0 else float(norms.max(initial=0.0))
        most = "" if largest is None else f" and at most {largest:g}"
        raise BadInput(f"context has norm {worst:g}; allowed: a finite norm above 0{most}")
    return np.asarray(given / bound)


def check_statistics(pulls: float, gram: Floats, moment: Floats, slack: float | None = None) -> None:
    """Raise BadInput where no honest agent has these statistics of an arm; `slack` is what rounding may do."""
    if not 0.0 <= pulls < math.inf or not np.isfinite(gram).all() or not np.isfinite(moment).all():
        raise BadInput(
            "report of numbers that are not finite, or of less than no pulls, is not allowed; allowed: n ≥ 0"
        )
    slack = slack_of(pulls) if slack is None else slack
    if np.abs(gram - gram.T).max() > slack:
        raise BadInput("report with a Gram matrix that is not symmetric is not allowed; allowed: G = Gᵀ")
    if np.trace(gram) > pulls + slack:
        found = f"trace {np.trace(gram):g} of {pulls:g} pulls"
        raise BadInput(f"report with a Gram matrix of {found} is not allowed; allowed: tr G ≤ n")
    if np.linalg.norm(moment) > LARGEST_REWARD * pulls + slack:
        found = f"‖b‖ = {np.linalg.norm(moment):g} of {pulls:g} pulls"
        raise BadInput(f"report with {found} is not allowed; allowed: ‖b‖ ≤ n/2")
    values, vectors = np.linalg.eigh(gram)
    if values[0] < -slack:
        raise BadInput(f"report with a Gram matrix of eigenvalue {values[0]:g} is not allowed; allowed: 0 or more")
    explained = float(((vectors.T @ moment) ** 2 / (np.maximum(values, 0.0) + slack)).sum())
    if explained > LARGEST_REWARD**2 * pulls + slack:
        raise BadInput(f"report with bᵀG⁺b = {explained:g} of {pulls:g} pulls is not allowed; allowed: bᵀG⁺b ≤ n/4")


def check_all(pulls: Floats, grams: Floats, moments: Floats) -> None:
    """`check_statistics` for every arm; as nearly all reports are possible, all arms are looked at together first."""
    if not _are_possible(pulls, grams, moments, _slacks_of(pulls)):
        for count, moment, gram in zip(pulls.tolist(), moments, grams, strict=True):
            check_statistics(count, gram, moment)


def _slacks_of(pulls: Floats) -> Floats:
    return np.array([slack_of(count) for count in pulls.tolist()])


def _are_possible(pulls: Floats, grams: Floats, moments: Floats, slack: Floats) -> bool:
    """Whether `check_statistics` passes on every arm, in one go."""
    if not (np.isfinite(pulls).all() and np.isfinite(grams).all() and np.isfinite(moments).all()):
        return False
    largest = np.sqrt(np.einsum("ka,ka->k", moments, moments)) <= LARGEST_REWARD * pulls + slack
    symmetric = np.abs(grams - grams.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0) <= slack
    if not (largest & symmetric & (pulls >= 0.0) & (np.einsum("kaa->k", grams) <= pulls + slack)).all():
        return False
    values, vectors = np.linalg.eigh(grams)
    along = np.einsum("kba,kb->ka", vectors, moments)
    explained = (along * along / (np.maximum(values, 0.0) + slack[:, None])).sum(axis=1)
    return bool(((values[:, 0] >= -slack) & (explained <= LARGEST_REWARD**2 * pulls + slack)).all())


def checked_context_report(report: ContextReport, arms: tuple[Arm, ...], d: int) -> ContextReport:
    """A copy of a report with its arms named, or BadInput if no honest agent can have told it."""
    if not isinstance(report, ContextReport):
        raise BadInput(f"report {report!r} is not allowed; allowed: a ContextReport")
    try:
        names = tuple(checked_name("arm", name) for name in report.arms) or arms
        pulls, moments, grams = (np.array(part, np.float64) for part in report[:3])
    except (TypeError, ValueError):
        raise BadInput("report without numbers is not allowed; allowed: pulls, moments and Gram matrices") from None
    shapes = (len(names),), (len(names), d), (len(names), d, d)
    if (pulls.shape, moments.shape, grams.shape) != shapes or len(set(names)) < len(names):
        found = " and ".join("×".join(map(str, part.shape)) for part in (pulls, moments, grams))
        raise BadInput(f"report of {found} numbers is not allowed; allowed: n, b and G of {d} dimensions for every arm")
    check_all(pulls, grams, moments)
    return ContextReport(pulls, moments, grams, names)


def check_growth(before: ContextReport, after: ContextReport) -> None:
    """Raise BadInput where no honest agent tells one report after the other; both are checked, on the same arms.

    What was added must itself be possible: G and b move only by what the new pulls can bring.
    """
    counts, moments, grams = (new - old for new, old in zip(after[:3], before[:3], strict=True))
    slacks = _slacks_of(after.pulls)
    if _are_possible(counts, grams, moments, slacks):
        return
    for arm, name in enumerate(after.arms):
        try:
            check_statistics(float(counts[arm]), grams[arm], moments[arm], float(slacks[arm]))
        except BadInput as error:
            raise BadInput(f"arm {name!r} moved by what no pulls bring: {error}") from None


def parts_of(rows: Floats, d: int) -> tuple[Floats, Floats]:
    """b and G of a table of statistics, arms × `row_size(d)`: copies, arms × d and arms × d × d."""
    return rows[:, 1 : 1 + d].copy(), rows[:, 1 + 2 * d : 1 + 2 * d + d * d].reshape(-1, d, d).copy()


def report_of(own: Floats, d: int, arms: Sequence[Any] = ()) -> ContextReport:
    """What an honest agent tells of its own statistics, arms × `row_size(d)`."""
    return ContextReport(own[:, 0].copy(), *parts_of(own, d), tuple(arms))


def row_of(pulls: float, moment: Floats, gram: Floats, ridge: float) -> Floats:
    """The row of a report for `believe_at`, θ and A⁻¹ filled in; silence where these cannot be."""
    row = _row_without_theta(pulls, moment, gram)
    hear(row, len(moment), ridge)
    return row


def own_row_of(pulls: float, moment: Floats, gram: Floats, ridge: float) -> Floats:
    """The row of your own statistics for `believe_at`, θ and A⁻¹ filled in; the statistics stay as they are."""
    row = _row_without_theta(pulls, moment, gram)
    derive(row, len(moment), ridge)
    return row


def _row_without_theta(pulls: float, moment: Floats, gram: Floats) -> Floats:
    d = len(moment)
    row = np.zeros(row_size(d))
    row[0], row[1 : 1 + d], row[1 + 2 * d : 1 + 2 * d + d * d] = pulls, moment, np.ravel(gram)
    return row
