import io

import pandas as pd
import pytest

from vbks import DataError
from vbks.data.files.parquet_files import read_parquet


def parquet(table):
    file = io.BytesIO()
    table.to_parquet(file)
    return file.getvalue()


def test_index__is_a_column_if_it_is_one_of_its_own():
    table = pd.DataFrame({"a": [1, 2]})
    assert [*read_parquet(parquet(table), "f").columns] == ["a"]
    named = table.set_index(pd.Index(["x", "y"], name="b"))
    assert [*read_parquet(parquet(named), "f").columns] == ["b", "a"]


def test_table_without_rows__is_refused():
    with pytest.raises(DataError, match="'f' has no rows"):
        read_parquet(parquet(pd.DataFrame({"a": []})), "f")


def test_missing_package__is_named(monkeypatch):
    def missing(*arguments, **settings):
        raise ImportError

    monkeypatch.setattr(pd, "read_parquet", missing)
    with pytest.raises(DataError, match=r"pyarrow .* pip install 'vbks\[parquet\]'"):
        read_parquet(b"", "f")
