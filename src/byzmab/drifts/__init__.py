"""Drifts: how the arms' means change from round to round."""

from byzmab.core.plugins import Registry
from byzmab.drifts.base import Drift
from byzmab.drifts.periodic import Periodic
from byzmab.drifts.steps import Steps
from byzmab.drifts.still import Still
from byzmab.drifts.walk import Walk

__all__ = ["DRIFTS", "Drift"]

DRIFTS = Registry(Drift, {"none": Still, "steps": Steps, "walk": Walk, "periodic": Periodic})
