"""Choosing among kernels: searches that propose candidates, and beliefs over their fits."""

from vbks.selection.belief import KernelBelief, bayes_belief
from vbks.selection.budget import Budget, Purse, budget_of
from vbks.selection.course import Course
from vbks.selection.fixed_space import FixedSpace
from vbks.selection.forming import (
    DEFAULT_BELIEF,
    BeliefKind,
    BeliefSettings,
    KernelPrior,
    form_belief,
    log_evidences,
    log_prior,
    paper_settings,
)
from vbks.selection.gaussian_belief import vbks_belief
from vbks.selection.greedy import Greedy
from vbks.selection.growing import Growing
from vbks.selection.intervals import IntervalSearch, bic_interval
from vbks.selection.last_fits import LastFits
from vbks.selection.method import Method, Task
from vbks.selection.methods import ABCD, BO, CKS, METHODS, SKC, VBKS, RandomSearch, method_of
from vbks.selection.plan import Plan
from vbks.selection.prices import Prices
from vbks.selection.search import Search
from vbks.selection.stacking import stacking_belief
from vbks.selection.strategy import SearchState, Step, Strategy, contenders, left_behind

__all__ = [
    "ABCD",
    "BO",
    "CKS",
    "DEFAULT_BELIEF",
    "METHODS",
    "SKC",
    "VBKS",
    "BeliefKind",
    "BeliefSettings",
    "Budget",
    "Course",
    "FixedSpace",
    "Greedy",
    "Growing",
    "IntervalSearch",
    "KernelBelief",
    "KernelPrior",
    "LastFits",
    "Method",
    "Plan",
    "Prices",
    "Purse",
    "RandomSearch",
    "Search",
    "SearchState",
    "Step",
    "Strategy",
    "Task",
    "bayes_belief",
    "bic_interval",
    "budget_of",
    "contenders",
    "form_belief",
    "left_behind",
    "log_evidences",
    "log_prior",
    "method_of",
    "paper_settings",
    "stacking_belief",
    "vbks_belief",
]
