import re
from pathlib import Path

import vbks.words


def test_page__has_code_that_gives_the_texts_beside_it():
    page = Path(vbks.words.__file__).parents[2] / "docs" / "algorithms" / "words.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S)
    names: dict[str, object] = {}
    exec(compile(block, "words.md", "exec"), names)
    lines = re.findall(r'^(.+?)  # "(.+)"$', block, flags=re.M)
    assert len(lines) == 2
    for code, text in lines:
        assert eval(code, names) == text
