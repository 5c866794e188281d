"""The result of an experiment: regret, pulls and messages, with their statistics, figure and file."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers
from byzmab.experiment.absent import recall, without_folders
from byzmab.experiment.experiment import Experiment
from byzmab.extras import needs_extra
from byzmab.graphs import Given
from byzmab.html import curve, table
from byzmab.results.outputs import in_place
from byzmab.results.statistics import Saving, band, describe, saving

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

HDF5 = b"\x89HDF\r\n\x1a\n"  # how every result file begins
NUMBER_BYTES = 8
REPORT_BYTES_PER_ARM = 2 * NUMBER_BYTES  # one count and one mean, as the paper's remark has it


def bytes_of(experiment: Experiment, messages: float, arms_told: float) -> float:
    """The bytes of some messages with so many arms in them: an algorithm's own, or a count and a mean for every arm.

    With contexts every arm is a count, a vector and a symmetric matrix.
    """
    baseline, contexts = experiment.parts.baseline, experiment.parts.contexts
    if contexts is not None:
        return arms_told * NUMBER_BYTES * (1 + contexts.d + contexts.d * (contexts.d + 1) // 2)
    if baseline is None:
        return arms_told * REPORT_BYTES_PER_ARM
    return messages * baseline.message_bytes(experiment.parts.arms)


@dataclass(frozen=True)
class Result:
    """The result of an experiment. `regret`, `pulls` and `messages` have labelled dimensions.

    Parameters
    ----------
    experiment
        What was simulated.
    rounds
        The rounds on which regret was recorded.
    regret_values
        Regret, run × honest agent × round.
    pull_values
        Pulls, run × honest agent × third × arm.
    message_counts
        Reports received, by run.
    arm_counts
        Arms in these reports, by run.
    means
        True means, run × arm.
    seconds
        Time of playing, without compiling.
    first
        Number of the first run.
    """

    experiment: Experiment
    rounds: Integers
    regret_values: Floats  # run × honest agent × round
    pull_values: NDArray[np.int32]  # run × honest agent × third × arm
    message_counts: Integers  # run
    arm_counts: Integers  # run: arms told in these messages
    means: Floats  # run × arm: μ
    seconds: float  # of playing, compilation excluded
    first: int = 0  # the number of its first run, where it holds only some runs of an experiment

    def __repr__(self) -> str:
        return f"<Result: {self._in_words()}, of {self.experiment!r}>"

    def _in_words(self) -> str:
        final = describe(self.network_regret[:, -1])
        error = "" if final["stderr"] is None else f" ± {final['stderr']:.2g}"
        return (
            f"regret {final['mean']:.4g}{error} after {self.experiment.horizon:,} rounds, {self.experiment.runs} runs"
        )

    def _repr_html_(self) -> str:
        filter, policy = self.experiment.algorithm_in_words()
        settings = self.experiment.settings()
        rows = [
            ("algorithm", filter if policy == "-" else f"{filter}, {policy}"),
            *((name, settings[name]) for name in ("attack", "graph", "agents", "byzantine", "f")),
            ("reports heard", int(self.message_counts.sum())),
            ("seconds", self.seconds),
        ]
        mean, std = band(self.network_regret)
        drawing = curve(self.rounds.astype(float), mean, std, "round", "regret per normal agent, ± 1 std")
        return table(self._in_words(), ("", ""), rows) + drawing

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """Everything with labelled dimensions; agents, arms and thirds are numbered from 1."""
        with needs_extra("study"):
            import xarray

        graph, normal = self.experiment.parts.graph, self.experiment.parts.normal
        labels = graph.labels if isinstance(graph, Given) else ()
        return xarray.Dataset(
            {
                "regret": (("run", "agent", "round"), self.regret_values),
                "pulls": (("run", "agent", "third", "arm"), self.pull_values),
                "messages": ("run", self.message_counts),
                "arms_told": ("run", self.arm_counts),
                "mean": (("run", "arm"), self.means),
            },
            {
                "run": self.first + np.arange(self.experiment.runs),
                "agent": np.array(normal) + 1,
                **({"label": ("agent", [labels[number] for number in normal])} if labels else {}),
                "round": self.rounds,
                "third": np.arange(1, 4),
                "arm": np.arange(1, self.experiment.parts.arms + 1),
            },
            {
                "experiment": json.dumps(without_folders(self.experiment.settings())),
                "edges": json.dumps(graph.listed if type(graph) is Given else None),
                "labels": json.dumps(labels),
                "seconds": self.seconds,
            },
        )

    @property
    def regret(self) -> "xarray.DataArray":
        """Regret by run, honest agent and round."""
        return self.dataset["regret"]

    @property
    def pulls(self) -> "xarray.DataArray":
        """Pulls by run, honest agent, third of the horizon and arm."""
        return self.dataset["pulls"]

    @property
    def messages(self) -> "xarray.DataArray":
        """Reports heard by run, all agents together."""
        return self.dataset["messages"]

    @property
    def network_regret(self) -> Floats:
        """The honest agents' average regret by run and round: what the paper plots."""
        return self.regret_values.mean(axis=1)  # type: ignore[no-any-return]

    @property
    def bytes_told(self) -> int:
        """The bytes of all messages of all runs."""
        return int(bytes_of(self.experiment, int(self.message_counts.sum()), int(self.arm_counts.sum())))

    def summary(self, solo: "Result | None" = None) -> dict[str, Any]:
        """Return the numbers of `byzmab simulate --json`, with `solo` those of the saving.

        Parameters
        ----------
        solo
            The result of `experiment.alone()`, for the saving.

        Returns
        -------
        dict
            The settings, regret, messages, bytes and speed as plain data.
        """
        final = describe(self.network_regret[:, -1])
        alone = {} if solo is None else describe(solo.network_regret[:, -1])
        steps = self.experiment.runs * self.experiment.parts.agents * self.experiment.horizon
        return {
            "experiment": self.experiment.settings(),
            "regret": {
                **{name: final[name] for name in ("mean", "std", "stderr")},
                "per_agent": self.regret_values[:, :, -1].mean(axis=0).tolist(),
            },
            "solo": None if solo is None else {name: alone[name] for name in ("mean", "stderr")},
            "saving": None if solo is None else self.saving(solo),
            "messages": int(self.message_counts.sum()),
            "arms_told": int(self.arm_counts.sum()),
            "bytes": self.bytes_told,
            "agent_steps": steps,
            "seconds": self.seconds,
            "agent_steps_per_second": steps / self.seconds if self.seconds else None,
        }

    def saving(self, solo: "Result") -> Saving | None:
        """Return the share of the solo regret that is saved, with its 95 % interval.

        Parameters
        ----------
        solo
            The result of `experiment.alone()`.

        Returns
        -------
        dict or None
            `mean`, `low` and `high` as shares of the solo regret; None where solo has no regret.
        """
        return saving(self.network_regret[:, -1], solo.network_regret[:, -1])

    def plot(self, axes: "Axes | None" = None, label: str | None = None) -> "Axes":
        """Draw the mean regret over runs with its ±1 standard deviation band; a notebook shows it.

        Parameters
        ----------
        axes
            matplotlib axes to draw on; if None, new ones.
        label
            The curve's name in the legend.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from byzmab.results.figure import draw_regret

        return draw_regret(self, axes, label)

    def save(self, path: str | Path) -> None:
        """Write everything to a NetCDF file.

        Parameters
        ----------
        path
            The file. A result that is there is replaced, as a whole once the new one is written.

        Raises
        ------
        BadInput
            If there is a file that is not a result, or the file cannot be written.
        """
        check_replaceable(Path(path))
        with in_place(Path(path)) as unfinished:
            self.dataset.to_netcdf(unfinished, engine="h5netcdf")

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read what `save` wrote. The source of plug-ins is needed only to play the experiment again.

        Parameters
        ----------
        path
            A file that `save` wrote.

        Returns
        -------
        Result
            The result.

        Raises
        ------
        BadInput
            If the file is not a result, or of a version that cannot be read.
        """
        with needs_extra("study"):
            import xarray

        try:
            with xarray.open_dataset(path, engine="h5netcdf") as data:
                data.load()
            settings, edges = (json.loads(data.attrs[name]) for name in ("experiment", "edges"))
            labels = json.loads(data.attrs.get("labels", "[]"))  # version 0.1 had none
            if "arms_told" not in data:  # of version 0.1, when every report was on all arms
                data["arms_told"] = data["messages"] * data.sizes["arm"]
            arrays = [data[name].values for name in ("round", "regret", "pulls", "messages", "arms_told", "mean")]
            seconds = float(data.attrs["seconds"])
        except (OSError, KeyError, ValueError, TypeError) as error:
            number = getattr(error, "errno", None)  # h5netcdf's own words are long
            reason = os.strerror(number) if number else error
            raise BadInput(f"result file {str(path)!r} cannot be read: {reason}") from None
        if edges is not None:  # kept in the file, so that it needs no other
            settings["graph"] = Given(tuple(map(tuple, edges)), settings["graph"], tuple(labels))
        try:
            experiment = recall(settings, Path(path))
        except TypeError as error:  # settings that another version knew
            raise BadInput(f"result file {str(path)!r} is of another version: {error}") from None
        rounds, regret, pulls, messages, arms_told, means = arrays
        return cls(experiment, rounds, regret, pulls, messages, arms_told, means, seconds, int(data["run"][0]))

    def cut(self, low: int, high: int) -> "Result":
        """Return a part of the runs.

        Parameters
        ----------
        low
            Index of the first run.
        high
            Index behind the last run.

        Returns
        -------
        Result
            A result of these runs alone.
        """
        whole = self.experiment.runs
        return replace(
            self,
            experiment=self.experiment.but(runs=high - low),
            regret_values=self.regret_values[low:high],
            pull_values=self.pull_values[low:high],
            message_counts=self.message_counts[low:high],
            arm_counts=self.arm_counts[low:high],
            means=self.means[low:high],
            seconds=self.seconds * (high - low) / whole,
            first=self.first + low,
        )

    @classmethod
    def join(cls, parts: Sequence["Result"]) -> "Result":
        """Join results that hold adjoining runs of one experiment.

        Parameters
        ----------
        parts
            Results that hold adjoining runs, in their order.

        Returns
        -------
        Result
            One result.
        """
        regret, pulls, messages, arms_told, means = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("regret_values", "pull_values", "message_counts", "arm_counts", "means")
        )
        experiment = parts[0].experiment.but(runs=sum(part.experiment.runs for part in parts))
        seconds = sum(part.seconds for part in parts)
        return cls(experiment, parts[0].rounds, regret, pulls, messages, arms_told, means, seconds, parts[0].first)


def check_replaceable(path: Path) -> None:
    """BadInput if a file is there that is no result, so that saving one never destroys anything else."""
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        with path.open("rb") as file:
            is_result = file.read(len(HDF5)) == HDF5
    except OSError as error:
        raise BadInput(f"file {str(path)!r} cannot be replaced: {error.strerror}") from None
    if is_result:
        import xarray

        with suppress(OSError, KeyError, ValueError), xarray.open_dataset(path, engine="h5netcdf") as data:
            is_result = "experiment" in data.attrs  # a broken file may be replaced
    if not is_result:
        raise BadInput(f"file {str(path)!r} exists and is not a result; allowed: a new file, or a result to replace")
