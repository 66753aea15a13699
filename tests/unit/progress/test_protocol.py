import inspect

import pytest

from vbks.progress.protocol import Part, Progress, Quiet

METHODS = [
    name for name, own in vars(Progress).items() if inspect.isfunction(own) and "_" not in name
]


class Heard:
    """A progress that remembers what it was told."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments))


@pytest.mark.parametrize("kind", [Quiet, Part])
def test_implementations__have_the_arguments_of_the_protocol(kind):
    assert len(METHODS) == 9
    for name in METHODS:
        assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(Progress, name))


def test_part__passes_all_on_but_the_end_and_parts_of_its_own():
    heard = Heard()
    part = Part(heard)
    part.part("fold", 1, 2)
    part.goal(3.0, 4.0, 5.0)
    part.start(6, "Trying", 7, "exact")
    part.stage("screening", 8)
    part.advance(2)
    part.leads("SE")
    part.finished("LIN", -1.0, ok=False)
    part.say("Well.")
    part.stop()
    assert heard.calls == [
        ("goal", 3.0, 4.0, 5.0),
        ("start", 6, "Trying", 7, "exact"),
        ("stage", "screening", 8),
        ("advance", 2),
        ("leads", "SE"),
        ("finished", "LIN", -1.0, False),
        ("say", "Well."),
    ]
