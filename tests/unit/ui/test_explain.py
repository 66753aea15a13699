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
    explanation_table,
    field_sentences,
)


@pytest.mark.parametrize("name", [own.name for own in fields(Policies)])
def test_policies__have_a_whole_sentence_for_every_number(name: str) -> None:
    policy = type(getattr(Policies(), name))
    sentences = field_sentences(policy)
    assert sentences.keys() == {own.name for own in fields(policy)}
    for sentence in sentences.values():
        assert sentence[0].isupper() and sentence.endswith(".")


def test_arguments_of_fit__are_all_explained() -> None:
    found = {own.name: own for own in explained_arguments(vbks.fit, {"seed": 3})}
    assert (found["seed"].value, found["seed"].default) == (3, 0)
    assert all(own.sentence for own in found.values())
    assert "target_range" in found and "prune" in found


def test_fields__are_named_by_their_places() -> None:
    policies = Policies(search=SearchPolicy(slack=5.0))
    found = {own.name: own for own in explained_fields(policies, "policies.")}
    assert (found["policies.search.slack"].value, found["policies.search.slack"].default) == (5, 3)
    assert found["policies.budget.few"].sentence.startswith("This many candidates are tried")
    assert len(found) > len(fields(SearchPolicy)) + len(fields(BudgetPolicy))


def test_table__shows_value_default_and_sentence() -> None:
    console = Console(file=io.StringIO(), width=160)
    console.print(explanation_table(explained_fields(BudgetPolicy(few=9), "budget.")))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "budget.few " in text and " 9 " in text and " 4 " in text
