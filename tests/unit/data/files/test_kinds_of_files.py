"""Files of the kinds that people have, from the writers of other libraries, and what comes of them.

Every file has the same twelve months and sales, so that a wrong reading cannot pass.
"""

import bz2
import csv
import gzip
import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from vbks.data.files.choosing import read_rows
from vbks.data.files.opening import open_file
from vbks.data.files.settings import FileSettings
from vbks.errors import DataError

MONTHS = pd.date_range("2014-01-01", periods=12, freq="MS")
SOLD = np.array([1234.5, 980, 1502.25, 17, 2000, 1750, 1999.5, 830, 12000, 1100.75, 5, 640])
RISE = np.arange(1.0, 13.0) ** 2


def delimited(header, *columns, dialect="excel", above=(), below=(), **options):
    """What Python's own writer makes of columns of texts."""
    text = io.StringIO()
    writer = csv.writer(text, dialect, **options)
    writer.writerows([*above, header, *zip(*columns, strict=True), *below])
    return text.getvalue()


def semicolons(header, *columns, **options):
    """CSV as a spreadsheet writes it where commas are before decimals."""
    return delimited(header, *columns, delimiter=";", **options)


def texts(values, form="{:.2f}"):
    return [form.format(value) for value in values]


def with_commas(values):
    return [text.replace(".", ",") for text in texts(values)]


def german(values):
    return [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]


def dated(form):
    return list(MONTHS.strftime(form))


ISO, PLAIN = dated("%Y-%m-%d"), texts(SOLD)
H = ("month", "sold")

TEXTS = {
    "commas": (delimited(H, ISO, PLAIN), ""),
    "quotes around everything": (delimited(H, ISO, PLAIN, quoting=csv.QUOTE_ALL), ""),
    "tabs": (delimited(H, ISO, PLAIN, dialect="excel-tab"), ""),
    "lines of Unix": (delimited(H, ISO, PLAIN, dialect="unix"), ""),
    "lines of old Macs": (delimited(H, ISO, PLAIN, lineterminator="\r"), ""),
    "mixed ends of lines": (delimited(H, ISO, PLAIN).replace("\r\n", "\n", 5), ""),
    "bars": (delimited(H, ISO, PLAIN, delimiter="|"), ""),
    "spaces": (delimited(H, ISO, PLAIN, delimiter=" "), ""),
    "columns of spaces": (delimited(H, ISO, PLAIN, delimiter=" ").replace(" ", "    "), ""),
    "semicolons and decimal commas": (
        semicolons(H, dated("%d.%m.%Y"), with_commas(SOLD)),
        "as day.month.year ('01.01.2014' is 2014-01-01)|a decimal comma ('1234,50' is 1234.5)",
    ),
    "tabs and decimal commas": (
        delimited(H, ISO, with_commas(SOLD), dialect="excel-tab"), "a decimal comma"
    ),
    "quoted decimal commas": (delimited(H, ISO, with_commas(SOLD)), "a decimal comma"),
    "the separator in the first line": ("sep=;\n" + semicolons(H, ISO, with_commas(SOLD)), "comma"),
    "English thousands": (
        delimited(H, ISO, texts(SOLD, "{:,.2f}")),
        "commas between thousands ('1,234.50' is 1234.5)",
    ),
    "German thousands": (
        semicolons(H, ISO, german(SOLD)), "points between thousands ('1.234,50' is 1234.5)"
    ),
    "French thousands": (
        semicolons(H, ISO, [text.replace(".", "\u00a0") for text in german(SOLD)]),
        "spaces between thousands",
    ),
    "Swiss thousands": (
        semicolons(H, ISO, [f"{value:,.2f}".replace(",", "’") for value in SOLD]),
        "apostrophes between thousands",
    ),
    "dollars": (delimited(H, ISO, texts(SOLD, "${:,.2f}")), "currency signs"),
    "euros behind": (
        semicolons(H, ISO, [f"{text} €" for text in german(SOLD)]), "currency signs"
    ),
    "percent": (delimited(H, ISO, texts(SOLD, "{:.2f} %")), "percent signs"),
    "days before months": (
        delimited(("when", "month", "sold"), ["x"] * 12, dated("28/%m/%Y"), PLAIN),
        "as day/month/year ('28/01/2014' is 2014-01-28)",
    ),
    "months before days": (
        delimited(("when", "month", "sold"), ["x"] * 12, dated("%m/28/%Y"), PLAIN),
        "as month/day/year ('01/28/2014' is 2014-01-28)",
    ),
    "names of months": (delimited(H, dated("%b %Y"), PLAIN), "as names of months"),
    "names and two digits": (
        delimited(H, dated("%b-%y"), PLAIN), "years of two digits ('Jan-14' is 2014-01-01)"
    ),
    "days with names of months": (
        delimited(H, dated("%d %B %Y"), PLAIN), "as day, name of the month, year"
    ),
    "American dates in words": (
        delimited(H, dated("%B %d, %Y"), PLAIN), "as name of the month, day, year"
    ),
    "months before years": (delimited(H, dated("%m/%Y"), PLAIN), "as month/year"),
    "months and years with a point": (semicolons(H, dated("%m.%Y"), PLAIN), "as month.year"),
    "yyyymm": (delimited(H, dated("%Y%m"), PLAIN), "year and month in one number"),
    "yyyymmdd": (delimited(H, dated("%Y%m%d"), PLAIN), "year, month and day in one number"),
    "ISO months": (delimited(H, dated("%Y-%m"), PLAIN), ""),
    "years first with slashes": (delimited(H, dated("%Y/%m/%d"), PLAIN), ""),
    "times with zones": (delimited(H, dated("%Y-%m-%dT01:00:00+01:00"), PLAIN), ""),
    "times of ISO in UTC": (delimited(H, dated("%Y-%m-%dT%H:%M:%SZ"), PLAIN), ""),
    "seconds since 1970": (
        delimited(("timestamp", "sold"), texts(MONTHS.astype("int64") // 10**9, "{}"), PLAIN),
        "as seconds since 1970 ('1388534400' is 2014-01-01)",
    ),
    "milliseconds since 1970": (
        delimited(("time", "sold"), texts(MONTHS.astype("int64") // 10**6, "{}"), PLAIN),
        "as milliseconds since 1970",
    ),
    "a column that counts rows": (
        pd.DataFrame({"month": ISO, "sold": SOLD}).to_csv(), "Left out, as they count rows: Unnamed"
    ),
    "names of rows without a name": (
        delimited(H, ISO, PLAIN).replace("\r\n", "\r\n{}").format(*texts(range(1, 13), "{},"), ""),
        "Left out, as they count rows",
    ),
    "spaces in the header": (delimited((" month ", "units  sold"), ISO, PLAIN), ""),
    "titles above and totals below": (
        delimited(
            H, ISO, PLAIN, above=[("Sales of 2014",), ("by shop", "")],
            below=[("Total", f"{SOLD.sum()}"), ("",), ("Source: the shop",)],
        ),
        "The header is in line 3 ('month', 'sold'): 2 rows above it left out.|Line 16 ('Total') is "
        "no row|Line 18 ('Source: the shop') is no row",
    ),
    "comments": ("# from the shop\n" + delimited(H, ISO, PLAIN), ""),
    "a header in a comment": ("# month sold\n" + delimited(ISO[:1] + PLAIN[:1], ISO[1:], PLAIN[1:],
                                                           delimiter=" "), ""),
    "blank lines": (delimited(H, ISO, PLAIN).replace("\r\n", "\r\n\r\n"), ""),
    "separators at the ends": (delimited(H, ISO, PLAIN).replace("\r\n", ",\r\n"), ""),
    "the target first": (
        delimited(("sold", "month"), PLAIN, ISO), "The target is the last column of numbers; --y"
    ),
    "a column of texts": (
        delimited(("month", "shop", "sold"), ISO, ["a", "b"] * 6, PLAIN), "as they have texts: shop"
    ),
    "an empty column": (
        delimited(("month", "note", "sold"), ISO, [""] * 12, PLAIN), "as they have nothing: note"
    ),
}  # fmt: skip
"""Texts of files by what is special about them, and what is said (parts between bars)."""


def in_any_month(X):
    """The months of dates."""
    return (X.dt.year - 2014) * 12 + X.dt.month - 1


def check(rows, said=""):
    """The rows are the months and sales, and nothing is missing from what is said."""
    assert rows.columns.inputs
    (name,) = rows.columns.inputs
    assert in_any_month(rows.X[name]).tolist() == list(range(12))
    np.testing.assert_allclose(rows.y, SOLD)
    told = " ".join([rows.summary, *rows.notices])
    for part in said.split("|"):
        assert part in told
    if not said:
        assert not [notice for notice in rows.notices if ": read " in notice]


def read(path, **settings):
    return read_rows(open_file(path, FileSettings(**settings)))


@pytest.mark.parametrize("kind", TEXTS)
def test_text__is_read_as_it_is_meant(kind, tmp_path):
    text, said = TEXTS[kind]
    path = tmp_path / "sales.csv"
    path.write_bytes(text.encode())
    check(read(path), said)


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_encoding__is_found(encoding, tmp_path):
    path = tmp_path / "sales.csv"
    path.write_bytes(semicolons(("Monat", "Erlöse (Größe)"), ISO, PLAIN).encode(encoding))
    rows = read(path)
    assert rows.columns.target == "Erlöse (Größe)"
    assert ("--encoding" in " ".join(rows.notices)) == (encoding in ("latin-1", "cp1252"))
    check(rows)


def packed(text, kind):
    if kind == "zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("sales.csv", text)
        return file.getvalue()
    return {"gz": gzip.compress, "bz2": bz2.compress}[kind](text.encode())


@pytest.mark.parametrize("kind", ["gz", "bz2", "zip"])
def test_packed_file__is_unpacked(kind, tmp_path):
    path = tmp_path / f"sales.csv.{kind}"
    path.write_bytes(packed(delimited(H, ISO, PLAIN), kind))
    check(read(path))


def workbook(path, *sheets):
    """A workbook with sheets of rows, by openpyxl."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


TABLE = [H, *zip(MONTHS.to_pydatetime(), SOLD.tolist(), strict=True)]

WORKBOOKS = {
    "one sheet": ([("Sales", TABLE)], ""),
    "titles and a total": (
        [("Sales", [("Sales of 2014",), (), *TABLE, ("Total", SOLD.sum())])],
        "The header is in row 3 ('month', 'sold')|Row 16 ('Total') is no row",
    ),
    "a margin": ([("Sales", [(), *((None, None, *row) for row in TABLE)])], ""),
    "a sheet that explains": (
        [("Read me", [("Sales by month",)]), ("Sales", TABLE)],
        "The sheet 'Sales' of 'Read me'",
    ),
    "dates and numbers as texts": (
        [("Sales", [H, *zip(dated("%d.%m.%Y"), german(SOLD), strict=True)])],
        "as day.month.year|a decimal comma",
    ),
}


@pytest.mark.parametrize("kind", WORKBOOKS)
def test_workbook__is_read_as_it_is_meant(kind, tmp_path):
    sheets, said = WORKBOOKS[kind]
    workbook(tmp_path / "sales.xlsx", *sheets)
    check(read(tmp_path / "sales.xlsx"), said)


def test_workbook__of_several_tables_needs_a_sheet(tmp_path):
    path = tmp_path / "sales.xlsx"
    other = [H, *zip(ISO, RISE.tolist(), strict=True)]
    workbook(path, ("Old", other), ("New", TABLE))
    with pytest.raises(
        DataError, match=r"tables in the sheets 'Old', 'New'. Choose one by --sheet"
    ):
        read(path)
    check(read(path, sheet="New"))
    check(read(path, sheet="2"))
    with pytest.raises(DataError, match=r"no sheet 'Newer'. Its sheets: 'Old', 'New'"):
        read(path, sheet="Newer")


def test_old_workbook__is_refused_where_its_package_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "sales.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))

    def missing(*arguments, **settings):
        raise ImportError("no module named xlrd")

    monkeypatch.setattr(pd, "read_excel", missing)
    with pytest.raises(DataError, match=r"the package xlrd .* pip install 'vbks\[excel\]'"):
        read(path)


def write_by_pandas(path):
    pd.DataFrame({"month": MONTHS, "sold": SOLD}).to_parquet(path)


def write_with_index(path):
    pd.DataFrame({"sold": SOLD}, index=MONTHS).to_parquet(path)


def write_by_polars(path):
    pl.DataFrame({"month": ISO, "sold": SOLD}).write_parquet(path)


def write_dates_by_polars(path):
    pl.DataFrame({"month": MONTHS.to_numpy().astype("datetime64[D]"), "sold": SOLD}).write_parquet(
        path
    )


def write_by_arrow(path):
    table = pa.table({"month": pa.array(MONTHS, pa.timestamp("ms", "UTC")), "sold": SOLD})
    pyarrow.parquet.write_table(table, path)


@pytest.mark.parametrize(
    "write",
    [write_by_pandas, write_with_index, write_by_polars, write_dates_by_polars, write_by_arrow],
)
def test_parquet__is_read_by_its_types(write, tmp_path):
    write(tmp_path / "sales.parquet")
    check(read(tmp_path / "sales.parquet"))


def test_csv_of_polars__is_read(tmp_path):
    table = pl.DataFrame({"month": MONTHS.to_numpy(), "sold": SOLD})
    table.write_csv(tmp_path / "sales.tsv", separator="\t")
    check(read(tmp_path / "sales.tsv"))


ALL = "01/02/2014", "01/03/2014", "01/04/2014", "01/05/2014", "01/06/2014"
FIVE = ("1", "2", "3", "5", "4")

REFUSED = {
    "open dates": (
        delimited(H, ALL, FIVE),
        r"column 'month' of '.*sales.csv' has '01/02/2014' in line 2, and no row says whether days "
        r"or months come first. Say it by --date-format dd/mm/yyyy or mm/dd/yyyy",
    ),
    "dates that change places": (
        delimited(H, ("13/01/2014", "01/14/2014"), FIVE[:2]),
        "'01/14/2014' in line 3, and another row has '13/01/2014': days and months change places",
    ),
    "no such day": (delimited(H, ("30.02.2014", "01.03.2014"), FIVE[:2]), "no day of the calendar"),
    "days without years": (delimited(H, ("14-Jan", "15-Jan"), FIVE[:2]), "without its year"),
    "one bad date": (
        delimited(H, ("2014-01-01", "soon", "2014-01-03"), FIVE[:3]), "'soon' in line 3, which is"
    ),
    "one bad number": (
        delimited(H, ISO[:5], ("1", "2", "3", "x7", "4")), "'x7' in line 5, which is no number"
    ),
    "two decimal marks": (
        semicolons(H, ISO[:5], ("1.5", "2,5", "3", "4", "5")),
        "'1.5' in line 2, while another has '2,5'",
    ),
    "open thousands": (
        delimited(H, ISO[:5], ("1.234", "987", "3.456", "4.567", "5")),
        "'1.234' in line 2, where the mark may stand .* --decimal . or --decimal ,",
    ),
    "two currencies": (delimited(H, ISO[:5], ("$1", "€2", "$3", "$4", "$5")), "while others are"),
    "some percent": (delimited(H, ISO[:3], ("1%", "0.02", "3%")), "while others have percent"),
    "missing target": (
        delimited(H, ISO[:5], ("1", "n/a", "3", "#N/A", "5")),
        r"the target 'sold' of '.*' has 2 missing values, the first in line 3. Fill them, or leave "
        "such rows out: --missing drop",
    ),
    "no header": (delimited(("2014-01-01", "5"), ISO[1:], PLAIN[1:]), "the first row .* numbers"),
    "decimal commas between commas": (
        "month,sold\n2014-01,1,5\n2014-02,2,5\n", "line 2 of '.*' has 3 cells between ',', expected"
    ),
    "an open quotation mark": (
        'month,sold\n"2014-01,1\n' + "2014-02,2\n" * 200, "line 2 .* quotation mark that is not"
    ),
    "one column": ("sold\n1\n2\n3\n", "no column of numbers or dates in .* --sep"),
    "texts alone": ("month,sold\na,b\nc,d\n", "column 'sold' .* 'b' in line 2, expected numbers"),
    "a header alone": ("month,sold\n", "has a header and no rows"),
    "nothing": ("", "is empty"),
    "blanks": (" \n\n", "is empty"),
    "a web page": ("<!DOCTYPE html><html></html>", "is a web page, not a table"),
    "JSON": ('[{"month": 1}]', "is a JSON file, not a table"),
    "XML": ("<?xml version='1.0'?><a/>", "is an XML file"),
    "a PDF document": ("%PDF-1.4", "is a PDF document"),
    "bytes": ("\x00\x01\x02abc\x00\x03", "has bytes that no text has"),
}  # fmt: skip
"""Texts of files that are refused, and how."""


@pytest.mark.parametrize("kind", REFUSED)
def test_text__is_refused_in_one_line(kind, tmp_path):
    text, message = REFUSED[kind]
    path = tmp_path / "sales.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match=message) as refused:
        read(path)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("beginning", "message"),
    [
        (b"PK\x03\x04 broken", "cannot be unpacked"),
        (gzip.compress(b"a,b\n1,2\n")[:-10], "is packed and cannot be unpacked: .* cut off"),
        (b"PAR1 broken", "is a broken Parquet file"),
        (b"PAR1 broken PAR1", "cannot be read as Parquet"),
        (b"\xd0\xcf\x11\xe0" + bytes(99), "(xlrd|workbook)"),
        (b"SQLite format 3\x00", "is a database"),
    ],
)
def test_broken_file__is_refused_in_one_line(beginning, message, tmp_path):
    path = tmp_path / "sales"
    path.write_bytes(beginning)
    with pytest.raises(DataError, match=message) as refused:
        read(path)
    assert "\n" not in str(refused.value)


def test_archive_of_several_files__is_refused(tmp_path):
    path = tmp_path / "sales.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("old.csv", "a")
        archive.writestr("new.csv", "b")
    with pytest.raises(
        DataError, match=r"an archive with 2 files: 'old.csv', 'new.csv'. Unpack it"
    ):
        read(path)


def test_what_was_asked_for__decides(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(delimited(H, dated("01/%m/%Y"), PLAIN))
    check(read(path, date_format="dd/mm/yyyy"), "month: read as dd/mm/yyyy ('01/01/2014' is 2014")
    check(read(path, date_format="%d/%m/%Y"), "month: read as %d/%m/%Y")
    other = read(path, date_format="mm/dd/yyyy")
    assert other.X["month"].max() == pd.Timestamp("2014-01-12", tz="UTC")
    path.write_text(delimited(H, ISO[:5], ("1.234", "987", "3.456", "4.567", "5")))
    assert read(path, decimal=",").y.tolist() == [1234, 987, 3456, 4567, 5]
    assert read(path, decimal=".").y.tolist() == [1.234, 987, 3.456, 4.567, 5]
    path.write_bytes("Größe:sold\n1:2\n2:4\n".encode("cp437"))
    assert read(path, sep=":", encoding="cp437").columns.inputs == ("Größe",)


def test_missing_values__may_be_dropped(tmp_path):
    path = tmp_path / "sales.csv"
    rows = delimited(("month", "price", "sold"), ISO[:5], ("1", "", "3", "4", "5"), FIVE)
    path.write_text(rows + "2014-06-01,6,\n2014-07-01,7,null\n")
    found = read(path, missing="drop")
    assert found.y.tolist() == [1, 3, 5, 4]
    assert found.X["price"].tolist() == [1, 3, 4, 5]
    assert "3 rows with missing values left out: line 3, 7, 8." in found.notices
