import io

from vbks.progress.lines import WAITS, PlainLines


def test_short_work__needs_no_lines(tally, clock, capsys):
    lines = PlainLines(tally=tally)
    lines.start(1, "Trying SE")
    clock.now = WAITS[0] - 0.1
    lines.finished("SE", -1.0)
    lines.say("Nobody hears this.")
    lines.stop()
    assert capsys.readouterr() == ("", "")


def test_long_work__has_few_lines_and_one_in_the_end(tally, clock, capsys):
    lines = PlainLines(tally=tally)
    lines.start(200, "Trying 200 kernels")
    for second in range(200):
        clock.now = float(second)
        lines.finished(f"SE[{second + 1}]", float(second))
    lines.stop()
    output, errors = capsys.readouterr()
    assert output == ""
    told = errors.splitlines()
    assert len(told) == 6
    assert told[0] == "vbks: Trying 200 kernels; 5 s; 6 kernels tried; best so far SE[6]"
    assert told[-1] == "vbks: 200 kernels tried in 3 min 19 s; the best is SE[200]."


def test_reader_that_goes_away__does_not_end_the_program(tally, clock):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    lines = PlainLines(Gone, tally)
    lines.start(1, "Trying SE")
    clock.now = 100.0
    lines.advance()
    assert not lines.is_broken


def test_lines__have_no_control_characters(tally, clock):
    stream = io.StringIO()
    lines = PlainLines(lambda: stream, tally)
    clock.now = 100.0
    lines.start(1, "target \x1b[2J")
    assert stream.getvalue() == "vbks: target \\x1b[2J; 100 s\n"
