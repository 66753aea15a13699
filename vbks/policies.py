"""All numbers that trade time for quality, in one value with a part for each step of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from vbks.inference.screening import ScreeningPolicy
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.kernels.starts.policy import StartPolicy


@dataclass(frozen=True)
class ChoicePolicy:
    """What trades time for quality where a setting of fits is left open.

    Times are estimated, for all candidates together.
    """

    restarts: int = 8
    """A candidate has this many starts. In most candidates only one of three finds the best
    optimum; eight, of which the better ones are optimised to the end, find it nearly always."""

    few_rows: int = 100
    """Up to this many rows `vbks.fit` has `restarts_of_few` starts: evaluations are so cheap that
    twice as many take little longer."""

    restarts_of_few: int = 16
    """A candidate has this many starts where rows are few. On 60 rows drawn from the model, the
    likeliest optimum was missed in one of eight fits with eight."""

    exact_seconds: float = 120.0
    """Candidates are fitted exactly if that takes no more than these seconds."""

    collapsed_seconds: float = 900.0
    """Candidates that are too expensive for exact fits are fitted by the collapsed bound, on all
    rows at once, if that takes no more than these seconds."""

    min_inducing: int = 16
    """There are 2√N inducing points, but at least this many."""

    max_inducing: int = 400
    """There are 2√N inducing points, but at most this many."""

    batch_size: int = 512
    """A minibatch has this many rows: enough that operations, not their number, take the time."""

    def restarts_for(self, num_rows: int) -> int:
        """The starts of each candidate of `vbks.fit` if nobody says how many."""
        return self.restarts_of_few if num_rows <= self.few_rows else self.restarts


@dataclass(frozen=True)
class SearchPolicy:
    """What trades time for quality in a search and in the final fits of the best it has found.

    Shares of the belief are expected ones, before these fits are made.
    """

    exact_search_rows: int = 300
    """Up to this many rows all candidates are fitted exactly, and with full q(θ) in the end, in a
    few tenths of a second each. Of more rows along one input a search takes as many, in runs."""

    exact_final_rows: int = 2000
    """Up to this many rows those that remain are fitted exactly, in some seconds each."""

    search_elements: int = 45_000
    """The kernel matrices of one candidate of a search that is not exact have this many numbers:
    a fit then takes about a second."""

    importance_rows: int = 1000
    """Up to this many rows evidences of the final fits are found by importance sampling, in some
    seconds each. With more, q(θ) is close to Gaussian, and Laplace's approximation good enough."""

    slack: float = 3.0
    """A candidate may gain this many nats on the best by its final fit, before any of these was
    made, if both fits have the same bound: Laplace's approximation is off by that in one of thirty
    cases."""

    other_bound_slack: float = 20.0
    """A candidate may gain this many nats on the best by its final fit if that has a tighter bound
    or more rows than the search: the order of candidates may then be another."""

    expensive_share: float = 0.5
    """Exact fits of a few candidates are too expensive for a search if they take more than this
    share of the budget in seconds, and collapsed ones are quicker by `quicker_share`."""

    quicker_share: float = 0.5
    """Collapsed fits replace exact ones that are too expensive only if they take no more than this
    share of their time."""

    final_share: float = 0.01
    """Candidates that could hold more of the belief than this are fitted to the end."""

    final_rest: float = 0.05
    """Of candidates below `final_share`, the best are fitted to the end until the rest is expected
    to hold no more of the belief together than this: where nothing is clear, each may hold little,
    and all of them much."""

    first_final_fits: int = 8
    """The final fits of this many candidates are made first: what they gain shows what others could
    gain. If there are no more, all of them are fitted to the end."""

    expected_slack: float = 2.0
    """Others are expected to gain this many nats on the best, for the time that is kept for final
    fits."""

    posterior_share: float = 0.95
    """The candidates that hold this share of the belief together have the best q(θ), where that is
    a fit of its own; those that hold more than `final_share` have it in any case."""

    known_gains: int = 4
    """The gains of final fits say more than what was thought before from this many fits on."""

    least_gain_spread: float = 1.0
    """A gain may differ by this many nats from the mean of others, however alike these are."""

    patience: float = 1.5
    """Where no budget is given, final fits may go on to this many times the usual seconds."""

    growing_seconds: float = 100.0
    """Growing takes this many seconds on up to `growing_rows` rows when no budget is given; beyond,
    they grow with the square root of the rows."""

    growing_rows: int = 1000
    """Growing takes longer than `growing_seconds` from this many rows on."""

    few_evaluations: int = 50
    """Bayesian optimisation and random choice try this many candidates when no budget is given, as
    many as the authors of BOMS allow."""

    skc_inducing: int = 160
    """SKC has this many inducing points, as on the larger data sets of its paper, if nobody says
    how many."""

    skc_restarts: int = 10
    """SKC has this many starts of each candidate, as in its paper, if nobody says how many."""

    change_rows: int = 4000
    """Changes are looked for in up to this many rows, between the ends of which they have to be."""


@dataclass(frozen=True)
class BudgetPolicy:
    """How a budget in seconds is spent on candidates whose costs are known only roughly."""

    fast_seconds: float = 2.0
    """The preset "fast" searches for this long: some first candidates of a few hundred rows."""

    medium_seconds: float = 10.0
    """The preset "medium" searches for this long: most of what matters on a few hundred rows."""

    best_seconds: float = 60.0
    """The preset "best" searches for this long: more than that rarely changes a forecast."""

    few: int = 4
    """This many candidates are tried however small the budget is, unless they take longer than
    `few_seconds` and the budget; one is always tried."""

    few_seconds: float = 4.0
    """The first `few` candidates may take this many seconds if less is left of the budget, beside
    the graphs that are made for them."""

    first_share: float = 0.2
    """This share of the time left is spent before anything is known of the pace."""

    short_seconds: float = 30.0
    """A budget of up to this many seconds is short: fewer other places of parts are tried."""

    short_periods: int = 40
    """With a short budget, up to this many other periods are tried for each periodic leaf: the
    periodogram shows most of them, and on 245 rows all took half of the time."""

    short_move_rounds: int = 1
    """With a short budget, parts of a candidate are moved up to this many times."""

    share_at_once: float = 0.4
    """This share of the time left is spent at once: costs may be twice as high as estimated."""

    share_at_end: float = 0.07
    """All of the time left is spent at once when it is at most this share of the budget, so that
    work is not cut to pieces."""

    share_alone: float = 0.8
    """A single candidate may take this share of the time left."""

    reserved_share: float = 0.25
    """At most this share of a budget is kept for the final fits of the best."""

    first_pace: float = 1.5
    """A second of costs takes this many seconds on a machine that is not known yet."""

    graph_cost: float = 1.0
    """The first fits in a process cost this many seconds in addition, in which TensorFlow makes
    its graphs."""

    call_cost: float = 0.5
    """Fitting candidates together costs this many seconds in addition to their own."""

    full_cost_candidates: int = 10
    """Candidates past this many of a batch count `pruned_cost_share` of their cost."""

    pruned_cost_share: float = 0.6
    """Candidates past the first `full_cost_candidates` of a batch count this share of their cost:
    most are pruned early."""

    memory: float = 0.5
    """What was learnt of the pace keeps this weight when something new is: the first fits are slow,
    as TensorFlow makes its graphs, and later ones are larger."""

    def seconds_of(self, preset: str) -> float:
        """The seconds of a preset."""
        return float(getattr(self, f"{preset}_seconds"))


@dataclass(frozen=True)
class Policies:
    """What trades time for quality in a fit.

    Each part has a sentence for each of its numbers, and ``vbks fit --explain`` prints them all.
    """

    choices: ChoicePolicy = field(default_factory=ChoicePolicy)
    """Policy of what is chosen where a setting of fits is left open."""
    screening: ScreeningPolicy = field(default_factory=ScreeningPolicy)
    """Policy of the stages of a fit, from the first look at candidates to their posteriors."""
    starts: StartPolicy = field(default_factory=StartPolicy)
    """Policy of the values of θ that fits start from."""
    svgp: SvgpPolicy = field(default_factory=SvgpPolicy)
    """Policy of stochastic fits."""
    search: SearchPolicy = field(default_factory=SearchPolicy)
    """Policy of a search and of the final fits of the best."""
    budget: BudgetPolicy = field(default_factory=BudgetPolicy)
    """Policy of how a budget in seconds is spent."""

    def within(self, seconds: float) -> Policies:
        """The same, with less to be tried for each candidate if these seconds are few."""
        own = self.budget
        if seconds > own.short_seconds:
            return self
        starts = replace(
            self.starts,
            max_periods=min(own.short_periods, self.starts.max_periods),
            move_rounds=min(own.short_move_rounds, self.starts.move_rounds),
        )
        return replace(self, starts=starts)
