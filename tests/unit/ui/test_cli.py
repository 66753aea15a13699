def test_wrong_option__is_one_clear_message(run, table):
    code, _, errors = run("fit", "data.csv", "--belief", "hope")
    assert code == 2
    assert "--belief" in errors.splitlines()[-1]
