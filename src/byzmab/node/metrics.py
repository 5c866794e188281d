"""What Prometheus reads: the counters of a host, gathered when asked, and how long requests take."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from byzmab.core.filters.fates import Fate
from byzmab.node.host import Host
from byzmab.node.neighbours import ACCEPTED, IMPOSSIBLE, REFUSED
from byzmab.node.wire import Refusal

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)  # seconds
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Latency:
    """A histogram of the seconds that requests took, by what was asked and how it was answered."""

    def __init__(self) -> None:
        self.counts: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self.totals: defaultdict[tuple[str, int], float] = defaultdict(float)

    def observe(self, asked: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.counts[asked, status][bisect_left(BUCKETS, seconds)] += 1
        self.totals[asked, status] += seconds

    def family(self) -> HistogramMetricFamily:
        """The same for Prometheus."""
        labels = ["route", "status"]
        family = HistogramMetricFamily("byzmab_request_seconds", "Time to answer a request", labels=labels)
        for (asked, status), counts in list(self.counts.items()):
            so_far, rows = 0, []
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                so_far += count
                rows.append((bound, so_far))
            family.add_metric([asked, str(status)], rows, self.totals[asked, status])
        return family


class HostCollector(Collector):
    """Gathers the counters of a host."""

    def __init__(self, host: Host, latency: Latency) -> None:
        self._host, self._latency = host, latency

    def collect(self) -> Iterable[Metric]:
        """All families."""
        host, counts = self._host, self._host.decisions.counts
        node = {"name": host.config.name, "network": host.config.network, "key": host.key.public}
        yield InfoMetricFamily("byzmab_node", "Which node this is", value=node)
        yield CounterMetricFamily("byzmab_decisions", "Arms chosen", counts.decisions)
        yield CounterMetricFamily("byzmab_rewards", "Rewards counted", counts.rewards)
        yield CounterMetricFamily("byzmab_rewards_expired", "Events whose reward did not come in time", counts.expired)
        yield GaugeMetricFamily("byzmab_pending_events", "Events that wait for a reward", len(host.decisions.pending))
        yield GaugeMetricFamily("byzmab_round", "t, decisions after the first pulls", host.agent.time)
        yield GaugeMetricFamily("byzmab_epoch", "Starts of this node", host.epoch)
        yield GaugeMetricFamily("byzmab_store_trouble", "1 while state cannot be written", bool(host.store.trouble))
        yield self._latency.family()
        yield from self._neighbours()

    def _neighbours(self) -> Iterable[Metric]:
        sent = CounterMetricFamily("byzmab_reports_sent", "Reports sent", labels=["neighbour"])
        accepted = CounterMetricFamily("byzmab_reports_accepted", "Reports accepted", labels=["neighbour"])
        refused = CounterMetricFamily("byzmab_reports_refused", "Frames refused", labels=["neighbour", "reason"])
        fates = CounterMetricFamily("byzmab_fates", "What the filter did with reports", labels=["neighbour", "fate"])
        lies = GaugeMetricFamily("byzmab_evidence", "Pieces of evidence kept", labels=["neighbour", "kind"])
        age = GaugeMetricFamily("byzmab_report_age_seconds", "Age of the newest report", labels=["neighbour"])
        steady = self._host.clock.steady()
        refused.add_metric(["", Refusal.STRANGER.value], self._host.strangers)
        for name, ledger in self._host.neighbourhood.ledgers.items():
            sent.add_metric([name], self._host.sent[name])
            accepted.add_metric([name], ledger.counts[ACCEPTED])
            for what, count in ledger.counts.items():
                if what.startswith(f"{REFUSED}: "):
                    refused.add_metric([name, what.removeprefix(f"{REFUSED}: ")], count)
            for fate in Fate:
                fates.add_metric([name, fate.value], ledger.counts[fate])
            equivocations = sum(piece.kind == "equivocation" for piece in ledger.evidence)
            lies.add_metric([name, "equivocation"], equivocations)
            lies.add_metric([name, IMPOSSIBLE], ledger.counts[IMPOSSIBLE])
            if ledger.newest is not None:
                age.add_metric([name], max(0.0, steady - ledger.steady))
        yield from (sent, accepted, refused, fates, lies, age)


class Metrics:
    """The metrics of one host."""

    def __init__(self, host: Host) -> None:
        self.latency = Latency()
        self._registry = CollectorRegistry()
        self._registry.register(HostCollector(host, self.latency))

    def text(self) -> bytes:
        """All of them as text."""
        return generate_latest(self._registry)
