import json

import numpy as np
import pandas as pd
from support.selections import months


def test_leaderboard__shows_the_average_and_all_candidates(run, saved, tmp_path):
    code, output, errors = run("leaderboard", saved, "--out", "all.csv")
    assert code == 0, errors
    for text in ("Leaderboard", "averaged", "SE * PER", "Written to all.csv."):
        assert text in output
    assert len(pd.read_csv(tmp_path / "all.csv")) == 5


def test_leaderboard__scores_held_out_rows(run, saved, tmp_path):
    held_out = pd.DataFrame({"month": months()[:3], "sold": [20.0, 21.0, 22.0]})
    held_out.to_csv(tmp_path / "held.csv", index=False)
    code, output, errors = run("leaderboard", saved, "--data", "held.csv", "--json")
    assert code == 0, errors
    rows = json.loads(output)["candidates"]
    assert {"rmse", "nlpd"} <= rows[0].keys()
    assert np.isfinite(rows[0]["nlpd"])
