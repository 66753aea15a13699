"""What candidates go through before they are finalised: rungs, each more expensive than the last.

Many candidates are seen by few evaluations of few rows, few are optimised on all rows. After each
rung those far behind the best are pruned, as in successive halving.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from vbks.inference.approximations.importance import ImportancePolicy
from vbks.inference.inducing import InducingPolicy
from vbks.inference.optim.halving import Schedule

RungRows = Literal["screening", "intermediate", "all"]
"""The rows of a rung: those of a cheap objective, an intermediate subset, or all of them."""


@dataclass(frozen=True)
class Rung:
    """One stage of the way of candidates, and which of them go on from there.

    A rung on the same rows as the one before continues it: evaluations and schedules count from the
    first rung on these rows.
    """

    name: str
    """The name is shown while candidates are fitted, and in the reasons of those pruned here."""

    rows: RungRows
    """These are the rows that its objective sees."""

    evaluations: int
    """Optimisation ends after this many evaluations, converged or not."""

    schedule: Schedule
    """Pairs (evaluations, starts): after this many evaluations, this many starts of a candidate go
    on."""

    child_schedule: Schedule
    """The schedule of candidates with a parent, of which searches have many."""

    margin: float
    """Candidates within this many nats of the best are kept."""

    close_margin: float | None = None
    """Candidates within this many nats of the best are kept if the rung has the bound that counts,
    and ``margin`` is for another one."""

    margin_per_row: float = 0.0
    """Candidates within this many nats for each row are kept if that is more than the margin."""

    keep: int = 10
    """At least this many candidates are kept, however far behind they are."""

    above: int = 0
    """The rung is left out unless there are more candidates than this to be pruned."""

    without_intermediate: bool = False
    """The rung is left out where there is an intermediate subset of rows."""

    moves_parts: bool = False
    """After the rung, candidates are optimised once more with some of their parts moved, unless
    they were after an earlier one."""

    learns_from_relatives: bool = False
    """After the rung, candidates below a relative are screened again from what it has found."""

    prunes_points: bool = True
    """Candidates are also pruned where evidences have no q(θ): these are quickly found, and say
    more than standings."""


RUNGS = (
    Rung(
        "first screening",
        "screening",
        evaluations=10,
        schedule=((10, 7), (18, 4)),
        child_schedule=((8, 3), (16, 2)),
        margin=30.0,
        margin_per_row=0.25,
        above=12,
    ),
    Rung(
        "screening",
        "screening",
        evaluations=36,
        schedule=((10, 7), (18, 4)),
        child_schedule=((8, 3), (16, 2)),
        margin=25.0,
        close_margin=15.0,
        learns_from_relatives=True,
    ),
    Rung(
        "intermediate optimisation",
        "intermediate",
        evaluations=100,
        schedule=((12, 3), (30, 2)),
        child_schedule=((4, 3), (8, 2), (16, 1)),
        margin=15.0,
        keep=4,
        moves_parts=True,
    ),
    Rung(
        "first optimisation",
        "all",
        evaluations=16,
        schedule=((12, 3), (30, 2)),
        child_schedule=((4, 3), (8, 2), (16, 1)),
        margin=15.0,
        above=10,
        without_intermediate=True,
    ),
    Rung(
        "optimisation",
        "all",
        evaluations=100,
        schedule=((12, 3), (30, 2)),
        child_schedule=((4, 3), (8, 2), (16, 1)),
        margin=12.0,
        moves_parts=True,
        prunes_points=False,
    ),
)
"""The rungs of exact and collapsed fits.

Of 569 children of eight kernels for the airline series (129 rows), the best after a screening was
at most 8 nats behind after the first one, and the next four 21; on Mauna Loa (245 rows) the best
was 19 and 37 behind. The order of candidates is clear after 36 evaluations, and the median one is
within a hundredth of a nat after 80. A start that ends at the top, such as a line that is zero
inside the data, may be among the last at first. Fewer starts of children go on: their schedule of
optimisation takes a fifth of the time less, for a nat in one of twenty candidates. Twelve nats are
a share of e⁻¹² that q(θ) will hardly change.
"""


@dataclass(frozen=True)
class ScreeningPolicy:
    """What trades time for quality from the first screening of candidates to their evidences.

    Elements are numbers in the kernel matrices of one candidate at one θ.
    """

    rungs: tuple[Rung, ...] = RUNGS
    """Exact and collapsed fits go through these rungs, in this order."""

    screening_rows: int = 500
    """A sparse screening sees this many rows: a candidate then costs a few milliseconds a step."""

    screening_inducing: int = 50
    """The screening of stochastic fits has this many inducing points."""

    screening_elements: int = 300**2
    """A sparse screening of collapsed fits has as many inducing points as this many elements allow.
    With few of them short lengthscales look worse than they are, and their starts are lost."""

    exact_screening_rows: tuple[int, int] = (150, 250)
    """An exact screening sees half of the rows, or four for each inducing point, within these
    limits: an evaluation of half the rows takes a fifth of the time."""

    few_inducing: int = 64
    """With fewer inducing points than this, collapsed fits are screened exactly: their bound is
    hardly raised from elsewhere, and easily from where the exact one has its optima."""

    cheap_elements: int = 500**2
    """Collapsed fits with up to this many elements are screened by the bound that counts."""

    intermediate_elements: int = 1_000_000
    """The intermediate subset of collapsed fits has as many rows as this many elements allow. It
    shows at less cost which of several optima is the best."""

    intermediate_rows: int = 400
    """The intermediate subset of exact fits has this many rows."""

    intermediate_factor: float = 2.0
    """Use the intermediate subset only if N exceeds this many times its size: else it saves
    little."""

    second_screening_rows: int = 1000
    """The screening that decides from which optimum SVGP steps start sees this many rows."""

    second_screening_inducing: int = 100
    """The screening that decides from which optimum SVGP steps start has up to this many inducing
    points."""

    second_screening_evaluations: int = 16
    """The screening that decides from which optimum SVGP steps start has this many evaluations."""

    second_screening_schedule: Schedule = ((8, 1),)
    """Pairs (evaluations, optima that go on) of the screening before SVGP steps."""

    screened_starts: int = 4
    """Up to this many of the best optima of a screening are optimised."""

    intermediate_starts: int = 1
    """Up to this many of the best optima of the intermediate subset are optimised on all rows."""

    head_start: int = 30
    """A start that had no screening is optimised for this many evaluations before it joins the
    others."""

    parameter_penalty: float = 0.25
    """Standings fall by this many times log N for each free parameter. It is half of what one costs
    that the data determine, as one that they say nothing of costs nothing. Margins allow for the
    other half either way."""

    relative_margin: float = 2.0
    """A candidate is screened again if it is this many nats below a relative, whose priors of what
    the candidate does not have cost some."""

    relative_other_leaves: int = 1
    """A relative lacks at most this many leaves of a candidate: it tells the values of all
    others."""

    relative_shared_leaves: int = 2
    """A relative shares at least this many leaves: a single one is found without it."""

    earlier_modes: int = 2
    """A fit goes on from up to this many modes of an earlier one: a third has hardly any weight."""

    inducing: InducingPolicy = field(default_factory=InducingPolicy)
    """Inducing inputs are chosen by this."""

    summary_rows: int = 20_000
    """Periods are sought in up to this many rows: their periodogram takes a fraction of a
    second."""

    residual_rows: int = 1000
    """Residuals of parents are computed for up to this many rows: a fraction of a second."""

    chunk_candidates: int = 48
    """Up to this many candidates are worked on together: enough to fill a device."""

    chunk_elements: int = 1_200_000
    """Candidates that are worked on together have up to this many elements in all. They then take
    less than a minute in most cases, which is what an interruption may cost."""

    mode_margin: float = 4.0
    """Modes within this many nats of the highest are parts of q(θ)."""

    max_modes: int = 3
    """Up to this many modes are parts of q(θ)."""

    mode_distance: float = 4.0
    """Modes count as two if they are more than this many standard deviations apart: their Gaussians
    then hardly overlap, and the bound of the mixture is the log sum of theirs."""

    bound_evaluations: int = 16
    """The bound over q(θ) is maximised by this many evaluations: Laplace's Gaussian is close
    already, and the bound has settled to a tenth of a nat by then."""

    bound_pairs: int = 32
    """The bound over q(θ) is averaged over this many pairs of samples, which leaves an error of a
    few hundredths of a nat, as its quadratic part is known exactly."""

    importance: ImportancePolicy = field(default_factory=ImportancePolicy)
    """Evidences by importance sampling are estimated by this."""

    importance_samples: tuple[int, int] = (128, 4096)
    """An evidence is estimated by at least and at most this many samples of θ."""

    importance_elements: int = 20_000_000
    """All samples of θ together have this many elements, about a second of work, if that is between
    the fewest and the most samples."""

    importance_limit: int = 1_000_000
    """Evidences are not estimated by samples of θ where one has more elements than this: q(θ) is
    close to Gaussian there anyway."""

    sample_evaluations: int = 30
    """The proposal is improved by this many evaluations from the sample of the largest weight."""

    def rung(self, name: str) -> Rung:
        """The rung of a name."""
        return next(rung for rung in self.rungs if rung.name == name)
