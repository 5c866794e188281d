"""Running sweeps: on any executor, killed and resumed, always the same digits."""

import json
import os
import signal
import subprocess
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from types import FunctionType

import numpy as np
import pytest
from command import BYZMAB, byzmab
from waiting import LONG, until

from byzmab import BadInput, Experiment, ResultStore, compiled, open_sweep, run_sweep, simulate
from byzmab.core.compiler import watching_compilation
from byzmab.core.filters.trimmed import Trimmed
from byzmab.sweep.executors import open_executor
from byzmab.sweep.plan import Speed, Task, portions
from byzmab.sweep.store import blocks_in

SMALL = Experiment(agents=5, byzantine=1, horizon=200, runs=6, record=10)
POINTS = [SMALL.but(kappa=kappa, filter=filter) for kappa in (1.1, 1.5) for filter in ("trimmed", "pooled")]
SWEEP = """
[experiment]
agents = 6
byzantine = 1
horizon = 20_000
runs = 12
record = 10
attack = "adaptive"
[grid]
kappa = [1.1, 1.3, 1.5]
filter = ["trimmed", "pooled"]
"""


def finals(store, points):
    return [store.read(point).network_regret[:, -1] for point in points]


def test_every_executor_gives_the_digits_of_simulate(tmp_path):
    expected = [simulate(point).network_regret[:, -1] for point in POINTS]
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, get_context("spawn")) as processes:
        for name, executor in (("own", None), ("threads", threads), ("processes", processes)):
            store = ResultStore(tmp_path / name)
            run_sweep(POINTS, store, executor)
            assert np.array_equal(finals(store, POINTS), expected), name


def test_a_second_sweep_reuses_the_points_it_shares(tmp_path):
    run_sweep(POINTS[:3], ResultStore(tmp_path))
    store = ResultStore(tmp_path)
    run_sweep(POINTS, store)
    assert (store.computed, store.reused) == (6, 18)  # runs, however many blocks they are kept in


def test_progress_and_the_estimate_are_told(tmp_path):
    told, said = [], []
    run_sweep(
        POINTS, ResultStore(tmp_path), progress=lambda done, total: told.append((done, total)), announce=said.append
    )
    assert told[-1][0] == told[-1][1] == 4 * 6 * 5 * 200
    assert "4 points, 24 runs, 24 of them to be played: about" in said[0]


def test_portions_hold_every_run_once_whatever_the_speed():
    tasks = [Task(SMALL.but(runs=100), 0, 100, 0), Task(SMALL.but(runs=7, kappa=1.2), 3, 7, 1)]
    for seconds in (1e-9, 1e-3, 0.4, 10.0):
        speed = Speed([])
        speed.seconds = lambda task, each=seconds: each * (task.end - task.first)
        found = list(portions(tasks, speed, 2))
        runs = sorted(
            (task.experiment.kappa, run) for portion in found for task in portion for run in range(task.first, task.end)
        )
        assert runs == sorted([(1.5, run) for run in range(100)] + [(1.2, run) for run in range(3, 7)])
        assert all(sum(map(speed.seconds, portion)) <= 2.0 + seconds for portion in found)


def test_a_plugin_that_fails_ends_with_one_sentence_and_what_was_finished_stays(tmp_path):
    (tmp_path / "bad.py").write_text(
        "import byzmab\n@byzmab.compiled\ndef choose(belief, time, params, rng):\n    return 99 if time > 5 else 0\n"
        "class Bad(byzmab.Policy):\n    choose = staticmethod(choose)\n"
    )
    points = [SMALL, SMALL.but(policy=f"{tmp_path / 'bad.py'}:Bad")]
    with pytest.raises(BadInput, match="policy chose an arm that does not exist"):
        run_sweep(points, ResultStore(tmp_path / "out"), workers=1)
    run_sweep(points[:1], ResultStore(tmp_path / "out"))


def blocks_below(directory):
    """The files of finished blocks."""
    return set(directory.rglob("[0-9]*.npz"))


def test_a_killed_sweep_goes_on_without_losing_or_repeating_a_block(tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP)
    command = [*BYZMAB, "sweep", "s.toml", "--json", "--out", "out", "--workers", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: blocks_below(tmp_path / "out") or process.poll() is not None, every=0.005)
    process.kill()
    process.communicate()
    kept = blocks_below(tmp_path / "out")
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    resumed = json.loads(byzmab("sweep", "s.toml", "--json", "--out", "out", cwd=tmp_path).stdout)
    whole = json.loads(byzmab("sweep", "s.toml", "--json", "--out", "whole", cwd=tmp_path).stdout)
    assert kept
    found = [block for folder in (tmp_path / "out" / "points").iterdir() for block in blocks_in(folder)]
    assert resumed["reused"] == sum(block.end - block.first for block in found if block.path in kept)
    assert resumed["computed"] + resumed["reused"] == 6 * 12
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps
    assert resumed["points"] == whole["points"]
    for place in (tmp_path / "out" / "points").iterdir():  # no run twice
        blocks = blocks_in(place)
        assert [block.first for block in blocks] == [0, *(block.end for block in blocks[:-1])]


def test_ctrl_c_stops_soon_and_keeps_what_is_finished(tmp_path):
    """Though there is work for many minutes."""
    (tmp_path / "s.toml").write_text(SWEEP.replace("runs = 12", "runs = 100_000"))
    command = [*BYZMAB, "sweep", "s.toml", "--out", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    kept = until(lambda: blocks_below(tmp_path / "out"), every=0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert "to be played" in errors and errors.strip().endswith("stopped")
    assert kept <= blocks_below(tmp_path / "out")


def test_a_dask_cluster_loses_a_worker_and_no_digit(tmp_path, request):
    """Three worker processes, one of them killed in the middle."""
    if request.config.getoption("--quick"):
        pytest.skip("starts processes, in a thread from which no test can be skipped")
    distributed = pytest.importorskip("distributed")
    points = [point.but(horizon=100_000, runs=12, record=10) for point in POINTS]
    local, remote = ResultStore(tmp_path / "local"), ResultStore(tmp_path / "remote")
    run_sweep(points, local)
    killed = []
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        open_executor("dask", cluster.scheduler_address) as (executor, workers),
    ):
        assert workers == 3

        def kill_one(done, total):
            if not killed and 0 < done < total:
                with distributed.Client(cluster, set_as_default=False) as client:
                    busy = next((worker for worker, tasks in client.processing().items() if tasks), None)
                    if busy is not None:
                        killed.append(client.run(os.getpid, workers=[busy])[busy])
                        os.kill(killed[0], signal.SIGKILL)

        run_sweep(points, remote, executor, workers, kill_one)
    assert killed
    assert np.array_equal(finals(remote, points), finals(local, points))
    hosts = [json.loads(path.read_text()) for path in (tmp_path / "remote").rglob("*-*-*.json")]
    assert {origin["process"] for origin in hosts} - {*killed}, "others went on"
    assert os.getpid() not in {origin["process"] for origin in hosts}


def test_an_address_where_nobody_answers_is_said(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("byzmab.sweep.executors.CONNECT_SECONDS", 0.5)
    with pytest.raises(BadInput, match="no Dask scheduler answers"), open_executor("dask", "tcp://127.0.0.1:9"):
        pass


def test_without_dask_the_pip_line_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dask.distributed", None)
    with pytest.raises(BadInput, match=r"pip install 'byzmab\[dask\]'"), open_executor("dask"):
        pass


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "sweep file is missing"),
        (["none.toml"], "cannot be read"),
        (["s.toml", "--executor", "ray"], "executor 'ray' is not known"),
        (["s.toml", "--address", "tcp://127.0.0.1:1"], "does not go with executor 'local'"),
        (["s.toml", "--workers", "0"], "workers 0 is not allowed"),
        (["--table", "--out", "empty"], "holds no results of a sweep"),
    ],
)
def test_bad_input_ends_with_one_sentence(tmp_path, arguments, words):
    (tmp_path / "s.toml").write_text(SWEEP)
    done = byzmab("sweep", *arguments, cwd=tmp_path, code=2)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_table_and_plot_show_what_is_there(tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP)
    printed = byzmab("sweep", "s.toml", "--horizon", 100, "--out", "out", cwd=tmp_path).stdout
    assert printed.count("pooled") == 3
    shown = byzmab("sweep", "--table", "--plot", "--out", "out", cwd=tmp_path)
    assert shown.stdout.count("pooled") == 3
    assert (tmp_path / "out" / "sweep.png").stat().st_size > 10_000
    assert "0 runs computed" in shown.stderr


def test_a_sweep_opens_as_one_lazy_array_and_a_tidy_table(tmp_path):
    run_sweep([*POINTS, *(point.but(byzantine=2, horizon=100) for point in POINTS)], ResultStore(tmp_path))
    data = open_sweep(tmp_path)
    regret = data.regret
    assert dict(regret.sizes) == {"byzantine": 2, "kappa": 2, "filter": 2, "run": 6, "agent": 5, "round": 15}
    assert not regret.variable._in_memory  # nothing was read so far
    one = regret.sel(kappa=1.5, filter="trimmed", byzantine=1).dropna("round", how="all").dropna("agent", how="all")
    assert np.array_equal(one.values, simulate(SMALL).regret_values)
    assert one.agent.values.tolist() == [2, 3, 4, 5]
    picked = regret.isel(run=[4, 1], agent=2, round=-1).sel(byzantine=1, filter="pooled")
    assert np.array_equal(
        picked.values, regret.load().isel(run=[4, 1], agent=2, round=-1).sel(byzantine=1, filter="pooled").values
    )
    assert len(data.frame) == 8 * 6
    expected = simulate(SMALL).network_regret[:, -1]
    rows = data.frame.query("kappa == 1.5 and filter == 'trimmed' and byzantine == 1")
    assert np.allclose(rows["regret"], expected)
    row = data.table.query("kappa == 1.5 and filter == 'trimmed' and byzantine == 1").iloc[0]
    assert row["low"] < row["mean"] < row["high"]
    assert row["mean"] == pytest.approx(expected.mean())


def test_scattered_points_are_numbered(tmp_path):
    scattered = ((1.1, 0, 50), (1.1, 1, 51), (1.2, 0, 52), (1.3, 2, 50), (1.4, 3, 53))
    points = [SMALL.but(kappa=kappa, seed=seed, horizon=horizon) for kappa, seed, horizon in scattered]
    run_sweep(points, ResultStore(tmp_path))
    regret = open_sweep(tmp_path).regret
    assert regret.dims == ("point", "run", "agent", "round")
    assert sorted(regret["seed"].values.tolist()) == [0, 0, 1, 2, 3]


def test_a_setting_that_follows_from_another_is_no_dimension_of_its_own(tmp_path):
    run_sweep([SMALL.but(byzantine=0), SMALL.but(byzantine=1)], ResultStore(tmp_path))
    regret = open_sweep(tmp_path).regret
    assert regret.dims == ("byzantine", "run", "agent", "round")
    assert regret["f"].dims == ("byzantine",)


class Own(Trimmed):
    """A dense filter that is compiled in this process: its function is ours, but counts as somebody else's."""

    believe_dense = staticmethod(
        compiled(
            FunctionType(
                Trimmed.believe_dense.py_func.__code__.replace(co_filename="elsewhere.py"),
                Trimmed.believe_dense.py_func.__globals__,
            )
        )
    )


@pytest.mark.filterwarnings("ignore::byzmab.sweep.identity.NotStored")
@pytest.mark.usefixtures("nothing_kept")
def test_nothing_is_compiled_in_the_threads_of_a_sweep(tmp_path):
    """Not even the dense loop of a point that no estimate was made from."""
    small = SMALL.but(horizon=4, runs=1)
    points = [small.but(seed=seed) for seed in range(40)]
    points.insert(1, small.but(agents=60, filter=Own()))
    where = []
    with watching_compilation(lambda name: where.append(threading.current_thread())):
        run_sweep(points, ResultStore(tmp_path))
    assert where
    assert set(where) == {threading.main_thread()}
