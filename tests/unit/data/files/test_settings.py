import pytest

from vbks import SettingsError
from vbks.data.files.settings import FileSettings


def test_separators__have_names():
    names = ("tab", "\\t", "semicolon", "pipe", "space", ";", None)
    found = [FileSettings(sep=name).separator for name in names]
    assert found == ["\t", "\t", ";", "|", " ", ";", None]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sep": "ab"}, "sep is 'ab', expected one character"),
        ({"decimal": ";"}, r"decimal is ';', expected one of ., ,"),
        ({"missing": "fill"}, "missing is 'fill', expected one of refuse, drop"),
        ({"encoding": "utf-9"}, "encoding is 'utf-9', expected one that Python knows"),
    ],
)
def test_settings__are_checked(settings, message):
    with pytest.raises(SettingsError, match=message):
        FileSettings(**settings)
