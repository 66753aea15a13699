import json

import numpy as np
import pandas as pd

from vbks.ui.table_files import rounded, with_rounded_numbers, write_table


def test_write_table__writes_csv_or_rows(tmp_path):
    table = pd.DataFrame({"x": ["a", "b"], "y": [1.0, np.nan]})
    write_table(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "t.csv"), table)
    write_table(table, tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == [
        {"x": "a", "y": 1.0},
        {"x": "b", "y": None},
    ]


def test_rounded__has_eight_digits():
    assert rounded(np.array([1 / 3, 123456789.0])) == [0.33333333, 123456790.0]
    table = pd.DataFrame({"n": [12345678901], "y": [2 / 3]})
    found = with_rounded_numbers(table)
    assert found["n"].tolist() == [12345678901] and found["y"].tolist() == [0.66666667]
