from vbks.words.telling import EVERYTHING, SUMMARY, Detail, shorter


def test_shorter__leaves_out_the_least_until_nothing_is_left():
    telling = EVERYTHING
    dropped = []
    while telling:
        (gone,) = telling - shorter(telling)
        dropped.append(gone)
        telling = shorter(telling)
    assert dropped == sorted(Detail)
    assert set(dropped[-len(SUMMARY) :]) == SUMMARY
