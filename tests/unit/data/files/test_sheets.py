import numpy as np
import pandas as pd

from vbks.data.files.sheets import is_empty, num_filled


def test_empty_cells__have_nothing_in_them():
    assert all(map(is_empty, ("", "  ", None, np.nan, pd.NaT, pd.NA)))
    assert not any(map(is_empty, ("a", 0, False, [], "NA")))


def test_num_filled__counts_the_others():
    assert num_filled(["a", "", None, 0]) == 2
