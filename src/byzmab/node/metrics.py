"""What Prometheus reads: the counters of a host, gathered when asked, and how long requests take."""

import os
from collections.abc import Iterable
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from byzmab.core.filters.fates import Fate
from byzmab.core.traffic import Forced
from byzmab.node.evidence import Lie
from byzmab.node.expiry import expiries, expiry_files
from byzmab.node.host import Host
from byzmab.node.neighbours import ACCEPTED, IMPOSSIBLE, REFUSED
from byzmab.node.own_key import Alarm
from byzmab.node.watched import Watched
from byzmab.node.wire import Refusal

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)  # seconds
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


disable_created_metrics()  # type: ignore[no-untyped-call]  # byzmab_epoch tells of a new start


def latency_histogram(registry: CollectorRegistry | None = None) -> Histogram:
    """Seconds that requests took, by route and status."""
    labels = ("route", "status")
    return Histogram("byzmab_request_seconds", "Time to answer a request", labels, registry=registry, buckets=BUCKETS)


class HostCollector(Collector):
    """Reads the counters of a host whenever Prometheus asks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        paths = tuple(expiry_files(host.config).values())
        self._expiries = Watched("certificates", paths, lambda: expiries(host.config))

    def collect(self) -> Iterable[Metric]:
        """Yield all metrics of the host."""
        host, counts = self._host, self._host.decisions.counts
        node = {"name": host.config.name, "network": host.config.network, "key": host.key.public}
        node["version"] = version("byzmab")
        yield InfoMetricFamily("byzmab_node", "Which node this is", value=node)
        yield CounterMetricFamily("byzmab_decisions", "Arms chosen", counts.decisions)
        forced = CounterMetricFamily("byzmab_forced", "Arms that a floor or a cap forced", labels=["rule"])
        for rule in Forced:
            forced.add_metric([rule.value], host.decisions.forced[rule])
        yield forced
        yield CounterMetricFamily("byzmab_rewards", "Rewards counted", counts.rewards)
        yield CounterMetricFamily("byzmab_rewards_expired", "Events whose reward did not come in time", counts.expired)
        yield GaugeMetricFamily("byzmab_pending_events", "Events that wait for a reward", host.decisions.pending)
        yield GaugeMetricFamily("byzmab_round", "t, decisions after the first pulls", host.agent.time)
        yield GaugeMetricFamily("byzmab_epoch", "The epoch of this node's reports", host.epoch)
        yield GaugeMetricFamily("byzmab_f", "f, less one for each neighbour that is expelled", host.agent.f)
        alarms = GaugeMetricFamily("byzmab_alarms", "What is wrong with this node's key", labels=["kind"])
        for kind in Alarm:
            alarms.add_metric([kind.value], host.own.alarms[kind])
        yield alarms
        yield GaugeMetricFamily("byzmab_store_trouble", "1 while state cannot be written", bool(host.store.trouble))
        yield GaugeMetricFamily(
            "byzmab_commit_backlog_seconds", "Age of the oldest unwritten change", host.store.backlog
        )
        yield from self._files()
        yield from self._neighbours()

    def _files(self) -> Iterable[Metric]:
        size = GaugeMetricFamily("byzmab_store_bytes", "Size of the data file and its log", labels=["file"])
        path = self._host.store.path
        for file in (path, path.with_name(f"{path.name}-wal")):
            if file.exists():
                size.add_metric([file.name], file.stat().st_size)
        space = os.statvfs(path.parent)
        yield size
        yield GaugeMetricFamily("byzmab_store_free_bytes", "Room left on its disk", space.f_bavail * space.f_frsize)
        expiry = GaugeMetricFamily("byzmab_certificate_expiry_seconds", "Seconds since 1970", labels=["file"])
        for setting, when in self._expiries.value.items():
            expiry.add_metric([setting], when)
        yield expiry

    def _neighbours(self) -> Iterable[Metric]:
        sent = CounterMetricFamily("byzmab_reports_sent", "Reports sent", labels=["neighbour"])
        bytes_sent = CounterMetricFamily("byzmab_sent_bytes", "Bytes of all frames sent", labels=["neighbour"])
        oversized = CounterMetricFamily("byzmab_frames_oversized", "Frames too large to be sent", labels=["neighbour"])
        bytes_come = CounterMetricFamily("byzmab_received_bytes", "Bytes of all frames that came", labels=["neighbour"])
        accepted = CounterMetricFamily("byzmab_reports_accepted", "Reports accepted", labels=["neighbour"])
        refused = CounterMetricFamily("byzmab_reports_refused", "Frames refused", labels=["neighbour", "reason"])
        fates = CounterMetricFamily("byzmab_fates", "What the filter did with reports", labels=["neighbour", "fate"])
        worth = GaugeMetricFamily("byzmab_worth_pulls", "Own pulls that its report is worth", labels=["neighbour"])
        lies = GaugeMetricFamily("byzmab_evidence", "Pieces of evidence kept", labels=["neighbour", "kind"])
        age = GaugeMetricFamily("byzmab_report_age_seconds", "Age of the newest report", labels=["neighbour"])
        up = GaugeMetricFamily("byzmab_link_up", "1 while the link is up", labels=["neighbour"])
        waiting = GaugeMetricFamily("byzmab_frames_waiting", "Frames not looked at yet", labels=["neighbour"])
        steady = self._host.clock.steady()
        refused.add_metric(["", Refusal.STRANGER.value], self._host.strangers)
        worths = self._host.agent.worths()
        for name, neighbour in self._host.neighbourhood.neighbours.items():
            worth.add_metric([name], sum(worths.get(name, {}).values()))
            sent.add_metric([name], self._host.sent[name])
            bytes_sent.add_metric([name], self._host.courier.bytes[name])
            oversized.add_metric([name], self._host.courier.oversized[name])
            bytes_come.add_metric([name], neighbour.bytes)
            waiting.add_metric([name], len(neighbour.inbox))
            is_up = self._host.transport.is_up(name)
            if is_up is not None:
                up.add_metric([name], is_up)
            accepted.add_metric([name], neighbour.counts[ACCEPTED])
            for what, count in neighbour.counts.items():
                if what.startswith(f"{REFUSED}: "):
                    refused.add_metric([name, what.removeprefix(f"{REFUSED}: ")], count)
            for fate in (fate for fate in Fate if fate is not Fate.EXPELLED):  # who is expelled meets none
                fates.add_metric([name, fate.value], neighbour.counts[fate])
            for kind in (kind for kind in Lie if kind.proves):
                lies.add_metric([name, kind.value], sum(piece.kind is kind for piece in neighbour.evidence))
            lies.add_metric([name, IMPOSSIBLE], neighbour.counts[IMPOSSIBLE])
            if neighbour.newest is not None:
                age.add_metric([name], max(0.0, steady - neighbour.steady))
        yield from (sent, bytes_sent, oversized, bytes_come, accepted, refused, fates, worth, lies, age, up, waiting)


class Metrics:
    """The metrics of one host: its counters, its process, and the latencies of requests and commits."""

    def __init__(self, host: Host) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(HostCollector(host))
        ProcessCollector(registry=self._registry)
        self.latency = latency_histogram(self._registry)
        self.commits = Histogram(
            "byzmab_commit_seconds", "Time to bring a batch to the disk", registry=self._registry, buckets=BUCKETS
        )

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)
