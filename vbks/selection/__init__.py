"""Choosing among kernels: searches that propose candidates, and beliefs over their fits."""

from vbks.selection.belief import KernelBelief, bayes_belief
from vbks.selection.belief_settings import (
    DEFAULT_BELIEF,
    BeliefKind,
    BeliefSettings,
    Weighting,
    belief_fields,
    paper_settings,
)
from vbks.selection.budget import Budget, Purse, budget_of
from vbks.selection.course import Course
from vbks.selection.fixed_space import FixedSpace
from vbks.selection.forming import (
    averaged_weights,
    form_belief,
    log_evidences,
    stack,
    without_far_behind,
)
from vbks.selection.gaussian_belief import vbks_belief
from vbks.selection.greedy import Greedy
from vbks.selection.growing import Growing
from vbks.selection.intervals import IntervalSearch, bic_score_interval
from vbks.selection.kernel_prior import KernelPrior, check_prior, log_prior
from vbks.selection.last_fits import LastFits
from vbks.selection.method import Method, Task
from vbks.selection.methods import ABCD, BO, CKS, METHODS, SKC, VBKS, RandomSearch, method_of
from vbks.selection.paper import BeliefRecord, Callback, Trainer, Training, TrainingRecord
from vbks.selection.plan import Plan
from vbks.selection.prices import Prices
from vbks.selection.search import Search
from vbks.selection.stacking import stacking_belief
from vbks.selection.strategy import SearchState, Step, Strategy, left_behind
from vbks.selection.tensorboard import TensorBoard

__all__ = [
    "ABCD",
    "BO",
    "CKS",
    "DEFAULT_BELIEF",
    "METHODS",
    "SKC",
    "VBKS",
    "BeliefKind",
    "BeliefRecord",
    "BeliefSettings",
    "Budget",
    "Callback",
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
    "TensorBoard",
    "Trainer",
    "Training",
    "TrainingRecord",
    "Weighting",
    "averaged_weights",
    "bayes_belief",
    "belief_fields",
    "bic_score_interval",
    "budget_of",
    "check_prior",
    "form_belief",
    "left_behind",
    "log_evidences",
    "log_prior",
    "method_of",
    "paper_settings",
    "stack",
    "stacking_belief",
    "vbks_belief",
    "without_far_behind",
]
