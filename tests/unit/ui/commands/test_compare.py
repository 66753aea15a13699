from pathlib import Path


def test_compare__shows_what_methods_found_and_draws_it(run, table):
    code, output, errors = run(
        "compare", "data.csv", "--methods", "random,cks", "--budget", 1, "--out", "race.png"
    )
    assert code == 0, errors
    assert output.startswith("20 rows: load explained by day")
    for text in ("Answers of the methods", "Drawn to race.png."):
        assert text in output
    assert (Path.cwd() / "race.png").stat().st_size > 1000


def test_compare__refuses_methods_it_does_not_know(run, table):
    code, _, errors = run("compare", "data.csv", "--methods", "luck")
    assert code == 2
    assert errors.startswith("vbks: 'luck' is no method. Known: vbks, cks")
