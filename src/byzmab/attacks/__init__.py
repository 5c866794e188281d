"""Attacks: what Byzantine agents tell."""

from byzmab.attacks.adaptive import Adaptive
from byzmab.attacks.alie import Alie
from byzmab.attacks.base import Attack, World
from byzmab.attacks.constant import Constant
from byzmab.attacks.crafted import Crafted
from byzmab.attacks.extreme import Extreme
from byzmab.attacks.gaussian import Gaussian
from byzmab.attacks.mimic import Mimic
from byzmab.attacks.none import NoAttack
from byzmab.attacks.smart import Smart
from byzmab.attacks.starve import Starve
from byzmab.core.plugins import Registry

__all__ = ["ATTACKS", "Attack", "World"]

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
        "crafted": Crafted,
    },
)
