"""Searches: strategies that propose candidates, a runner, and costs."""

from vbks.inference.proposal import Proposal
from vbks.inference.settings import FitSettings, FitStage
from vbks.policies import BudgetPolicy, SearchPolicy
from vbks.search.budget import Budget
from vbks.search.method import Method, one_stage
from vbks.search.methods import (
    ABCD,
    BO,
    CKS,
    METHODS,
    SKC,
    VBKS,
    RandomSearch,
    register_method,
)
from vbks.search.paper import BeliefRecord, Callback, Training, TrainingRecord
from vbks.search.plan import Plan
from vbks.search.problem import SearchProblem
from vbks.search.protocol import SearchState, Step, Strategy
from vbks.search.strategies.acquisition import (
    Acquisition,
    ExpectedImprovement,
    UpperConfidenceBound,
    register_acquisition,
)

__all__ = [
    "ABCD",
    "BO",
    "CKS",
    "METHODS",
    "SKC",
    "VBKS",
    "Acquisition",
    "BeliefRecord",
    "Budget",
    "BudgetPolicy",
    "Callback",
    "ExpectedImprovement",
    "FitSettings",
    "FitStage",
    "Method",
    "Plan",
    "Proposal",
    "RandomSearch",
    "SearchPolicy",
    "SearchProblem",
    "SearchState",
    "Step",
    "Strategy",
    "Training",
    "TrainingRecord",
    "UpperConfidenceBound",
    "one_stage",
    "register_acquisition",
    "register_method",
]
