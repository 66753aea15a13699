import re
import subprocess
import sys
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


def test_words__need_no_tensorflow_and_no_numpy():
    code = "import sys, vbks.words; assert not {'numpy', 'tensorflow'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
