"""Tests of what explains settings."""

from __future__ import annotations

import io
from dataclasses import fields

import pytest
from rich.console import Console

import vbks
from vbks.policies import BudgetPolicy, Policies, SearchPolicy
from vbks.ui.explain import (
    explained_arguments,
    explained_fields,
    explanation_tables,
    field_sentences,
    policies_in,
)

POLICIES = dict(policies_in("policies", Policies()))


@pytest.mark.parametrize("name", POLICIES)
def test_policies__have_a_whole_sentence_for_every_number(name: str) -> None:
    policy = type(POLICIES[name])
    sentences = field_sentences(policy)
    assert sentences.keys() == {own.name for own in fields(policy)}
    for sentence in sentences.values():
        assert sentence[0].isupper() or sentence.startswith(("θ ", "q("))
        assert sentence.endswith(".")


def test_arguments_of_fit__are_all_explained() -> None:
    found = {own.name: own for own in explained_arguments(vbks.fit, {"seed": 3})}
    assert (found["seed"].value, found["seed"].default) == (3, 0)
    assert all(own.sentence for own in found.values())
    assert "target_range" in found and "prune" in found


def test_fields__have_values_defaults_and_sentences() -> None:
    found = {own.name: own for own in explained_fields(SearchPolicy(slack=5.0))}
    assert (found["slack"].value, found["slack"].default) == (5.0, 3.0)
    assert found["slack"].sentence.startswith("A candidate may gain this many nats")


def test_tables__show_every_policy() -> None:
    console = Console(file=io.StringIO(), width=120)
    policies = Policies(budget=BudgetPolicy(few=9))
    for table in explanation_tables(vbks.fit, {}, policies):
        console.print(table)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "policies.starts.signals" in POLICIES
    for name in POLICIES:
        assert name in text
    (line,) = (line for line in text.splitlines() if line.startswith("│ few "))
    assert "│ 9 " in line and "│ 4 " in line
