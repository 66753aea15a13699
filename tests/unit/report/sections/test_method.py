import numpy as np
from support.selections import make_dated

import vbks
from vbks.report.labels import labels_of
from vbks.report.sections.method import finite, method_of


def test_method__lists_all_candidates_best_first(dated):
    selection, method = make_dated(), dated.method
    table = selection.belief
    assert [c.expression for c in method.candidates] == table["expression"].tolist()
    assert [c.status for c in method.candidates] == ["fitted", "fitted", "dropped", "failed"]
    for candidate, evidence in zip(method.candidates[:3], table["log_evidence"], strict=False):
        assert candidate.log_evidence == evidence
    failed = method.candidates[3]
    assert (failed.log_evidence, failed.bic, failed.reason) == (None, None, "no start was finite")
    assert method.untried == ("RQ", "PER of log targets")
    assert dict(method.versions)["vbks"] == vbks.__version__


def test_method__shows_settings_but_not_every_policy(dated):
    assert dict(dated.method.settings) == {"method": "VBKS", "seed": "7", "restarts": "2"}


def test_code__is_a_call_with_the_settings_that_are_not_usual(dated):
    called = {}

    class Recorder:
        @staticmethod
        def fit(X, y, **settings):
            called.update(settings)

    assert dated.method.code.startswith("import vbks\n")
    exec(dated.method.code.replace("import vbks", ""), {"vbks": Recorder, "X": 0, "y": 0})
    assert called == {"seed": 7, "restarts": 2}


def test_code__has_spaces_as_texts():
    settings = {"seed": 0, "space": ("SE", "SE * PER"), "warps": None, "method": "CKS"}
    selection = make_dated(settings=settings)
    code = method_of(selection, labels_of(selection)).code
    assert "method='cks', space=['SE', 'SE * PER'], seed=0" in code


def test_finite__knows_no_other_numbers():
    assert finite(np.float64(2.0)) == 2.0
    assert finite(np.nan) is finite(np.inf) is None
