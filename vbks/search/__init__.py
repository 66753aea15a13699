"""Searches: strategies that propose candidates, a runner, and costs."""

from vbks.policies import BudgetPolicy, SearchPolicy
from vbks.search.budget import Budget
from vbks.search.method import Method
from vbks.search.methods import ABCD, BO, CKS, METHODS, SKC, VBKS, RandomSearch
from vbks.search.paper import BeliefRecord, Callback, Training, TrainingRecord
from vbks.search.plan import Plan
from vbks.search.problem import SearchProblem
from vbks.search.protocol import SearchState, Step, Strategy

__all__ = [
    "ABCD",
    "BO",
    "CKS",
    "METHODS",
    "SKC",
    "VBKS",
    "BeliefRecord",
    "Budget",
    "BudgetPolicy",
    "Callback",
    "Method",
    "Plan",
    "RandomSearch",
    "SearchPolicy",
    "SearchProblem",
    "SearchState",
    "Step",
    "Strategy",
    "Training",
    "TrainingRecord",
]
