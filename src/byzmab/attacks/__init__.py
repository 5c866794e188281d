"""Attacks: what Byzantine agents tell."""

from byzmab.attacks.adaptive import Adaptive
from byzmab.attacks.alie import Alie
from byzmab.attacks.base import Attack, World
from byzmab.attacks.beside import Beside
from byzmab.attacks.constant import Constant
from byzmab.attacks.contexts.alie import AlieAt, BlindAlie
from byzmab.attacks.contexts.crafted_at import CraftedAt
from byzmab.attacks.contexts.extreme_at import ExtremeAt
from byzmab.attacks.contexts.flip import Flip
from byzmab.attacks.contexts.large import Large
from byzmab.attacks.contexts.stealth import Inflate, InflateAt, Stealth, StealthAt
from byzmab.attacks.contexts.swap import Swap
from byzmab.attacks.crafted import Crafted
from byzmab.attacks.ends import Ends
from byzmab.attacks.extreme import Extreme
from byzmab.attacks.gaussian import Gaussian
from byzmab.attacks.greedy import Greedy, Phased, Victim
from byzmab.attacks.mimic import Mimic
from byzmab.attacks.none import NoAttack
from byzmab.attacks.shifted import Shifted
from byzmab.attacks.smart import Smart
from byzmab.attacks.starve import Starve
from byzmab.core.plugins import Registry

__all__ = ["ALL_ATTACKS", "ATTACKS", "CONTEXT_ATTACKS", "Attack", "World"]

ATTACKS = Registry(
    Attack,
    {
        "none": NoAttack,
        "constant": Constant,
        "gaussian": Gaussian,
        "adaptive": Adaptive,
        "extreme": Extreme,
        "starve": Starve,
        "mimic": Mimic,
        "alie": Alie,
        "smart": Smart,
        "beside": Beside,
        "ends": Ends,
        "shifted": Shifted,
        "crafted": Crafted,
        "greedy": Greedy,
        "phased": Phased,
        "victim": Victim,
    },
)

CONTEXT_ATTACKS = Registry(
    Attack,
    {
        **{name: entry for name, entry in ATTACKS.entries.items() if getattr(entry, "lie_at", None) is not None},
        "flip": Flip,
        "large": Large,
        "swap": Swap,
        "blind-alie": BlindAlie,
        "stealth": Stealth,
        "inflate": Inflate,
        "extreme-at": ExtremeAt,
        "alie-at": AlieAt,
        "stealth-at": StealthAt,
        "inflate-at": InflateAt,
        "crafted-at": CraftedAt,
    },
)

ALL_ATTACKS = Registry(Attack, {**ATTACKS.entries, **CONTEXT_ATTACKS.entries})
