"""Insiders: neighbours with valid keys that say whatever hurts, to each receiver what they like."""

import random
import threading
from collections import Counter

from live import ARMS, NETWORK, frame, key_of, report

from byzmab.node.identity import Key, public_bytes
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport
from byzmab.node.wire import MOST_ASKED, MOST_COUNT, MOST_LETTERS, EvidenceMessage, Mark, Request, seal, seal_handover

PERIOD = 0.1  # seconds between two rounds of an insider
WAYS = 4  # of behaving that one insider has
OTHERS = [f"other-{number}" for number in range(300)]  # arms that no honest node has
FILLING = [f"{number:060d}" for number in range(900)]  # arms that fill a frame nearly


class Insider(threading.Thread):
    """One neighbour of all honest nodes; each round it behaves in one of its ways, which are drawn from the seed."""

    def __init__(self, number, ports, frames, seed):
        super().__init__(daemon=True)
        self.number, self._ports, self._frames = number, ports, frames
        self._random = random.Random(f"{seed} insider {number}")
        self._key, self._epoch, self._seq, self._pulls = key_of(number), 1, 0, 0
        self.counts, self._sent, self._ended = Counter(), [], threading.Event()
        self._transport = ZenohTransport(NETWORK, self._key.public)
        names = [name for name in sorted(dir(self)) if name.startswith("say_")]
        self._ways = [getattr(self, name) for name in self._random.sample(names, WAYS)]

    def run(self):
        self._transport.open(lambda name, content: None)
        for node, port in self._ports.items():
            self._transport.link(Link(str(node), key_of(node).public, f"tcp/127.0.0.1:{port}"))
        while not self._ended.wait(PERIOD):
            way = self._random.choice(self._ways)
            for node in self._ports:
                for content in way(node):
                    self._transport.send(str(node), content)
                    self.counts[way.__name__.removeprefix("say_")] += 1
            self._seq += 1
        self._transport.close()

    def stop(self):
        self._ended.set()
        self.join()

    def _report(self, pulls=None, mean=0.5, **changes):
        counts = [self._pulls if pulls is None else pulls] * len(ARMS)
        fields = {"epoch": self._epoch, **changes}
        content = frame(self.number, fields.pop("seq", self._seq), counts, [mean] * len(ARMS), **fields)
        self._sent = [*self._sent[-20:], content]
        return content

    def _victim(self):
        """The number and the newest report of an honest node, or None."""
        number = self._random.choice(sorted(self._ports))
        newest = self._frames.newest(number)
        return None if newest is None else (number, newest)

    def say_the_truth(self, node):
        self._pulls += node == min(self._ports)
        yield self._report()

    def say_extremes(self, node):
        yield self._report(mean=self._random.choice([0.0, 1.0]))

    def say_two_things(self, node):
        """Equivocation: one version, another body for each receiver."""
        yield self._report(mean=0.1 + 0.1 * node)

    def say_it_numbered_per_receiver(self, node):
        yield self._report(mean=0.1 * node, seq=1_000_000 * node + self._seq)

    def say_the_impossible(self, node):
        yield self._report(pulls=self._random.randrange(10))

    def say_nothing(self, node):
        yield from ()

    def say_it_again(self, node):
        yield from self._random.sample(self._sent, min(4, len(self._sent)))

    def say_garbage(self, node):
        for _ in range(4):
            yield self._random.randbytes(self._random.randrange(0, 300))

    def say_too_much(self, node):
        yield seal(self._key, report(self.number, self._seq, arms=[f"{arm}" * 20 for arm in range(900)]))

    def say_wrong_numbers(self, node):
        for bad in ([-1.0], [float("nan")], [2.0]):
            yield self._report(mean=bad[0])
        yield self._report(pulls=-1)
        yield self._report(epoch=2**63 - 1, reset=2**63 - 1, arms=["a"])

    def say_it_in_anothers_name(self, node):
        if victim := self._victim():
            yield seal(self._key, victim[1])

    def say_false_marks(self, node):
        """Witness a report of an honest node that it never signed: two bodies, but one signature."""
        if victim := self._victim():
            _, newest = victim
            mark = Mark(newest.sender, newest.epoch, newest.seq, self._random.randbytes(32))
            later = Mark(newest.sender, newest.epoch + 1_000, 1, self._random.randbytes(32))
            yield self._report(marks=[mark, later])

    def say_it_with_shuffled_arms(self, node):
        """Possible histories of hundreds of arms, each time in another order: they are expensive to compare."""
        for _ in range(4):
            self._pulls, self._seq = self._pulls + 1, self._seq + 1
            arms = self._random.sample([*ARMS, *OTHERS], len(ARMS) + len(OTHERS))
            yield frame(
                self.number, self._seq, [self._pulls] * len(arms), [0.5] * len(arms), arms=arms, epoch=self._epoch
            )

    def say_two_large_things(self, node):
        """Equivocation in reports that are as large as can be shown to others, or a little larger."""
        arms = [*ARMS, *FILLING, "x" * self._random.randint(1, MOST_LETTERS)]
        means = [0.1 + 0.1 * node] * len(arms)
        yield frame(self.number, self._seq, [self._seq + 1] * len(arms), means, arms=arms, epoch=self._epoch)

    def say_the_highest_version(self, node):
        """Then nothing that comes later could count against it, if it were believed."""
        yield self._report(epoch=MOST_COUNT, reset=MOST_COUNT, seq=MOST_COUNT)
        yield self._report(epoch=self._epoch, seq=MOST_COUNT)

    def say_hand_overs(self, node):
        """To a new key each time, and to another one for each receiver."""
        yield seal_handover(self._key, Key.generate(), NETWORK, self._epoch)

    def say_questions(self, node):
        """Ask for many reports of others, that there are and that there are not."""
        for _ in range(20):
            about = self._victim()
            about = public_bytes(self._key.public) if about is None else about[1].sender
            versions = [(1, self._random.randrange(2**62)) for _ in range(MOST_ASKED)]
            yield seal(self._key, Request(1, NETWORK, public_bytes(self._key.public), about, versions))

    def say_false_evidence(self, node):
        """Accuse an honest node, with frames that it did not sign."""
        if victim := self._victim():
            forged = [seal(self._key, victim[1]), self._random.randbytes(64) + seal(self._key, victim[1])[64:]]
            yield seal(self._key, EvidenceMessage(1, NETWORK, public_bytes(self._key.public), forged))

    def say_it_all_at_once(self, node):
        """A flood."""
        for _ in range(20):
            yield self._random.choice(self._sent or [b""])


def corrupt(content, chance):
    """A frame that somebody on the way has changed: it must be refused."""
    kind = chance.randrange(4)
    if kind == 0 or len(content) < 70:
        return chance.randbytes(chance.randrange(0, 400))
    if kind == 1:
        return content[: chance.randrange(len(content))]
    where = chance.randrange(len(content))
    changed = bytes([content[where] ^ (1 << chance.randrange(8))])
    return content[:where] + changed + content[where + 1 :] if kind == 2 else content + changed
