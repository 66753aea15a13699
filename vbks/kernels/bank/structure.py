"""The structure of many expressions as index arrays, which is all the bank knows of them.

Numbers come from one vector of values: θ of all candidates one after the other, then 0, then a
number that stands for log 0, then the log shares of every sum of unit scale, then three numbers for
every centred leaf: its log lengthscale, and the logarithms of what makes it of a periodic leaf and
of a constant. Indices point into it, into a table of leaves (whose row 0 stands for no leaf), or at
a term or candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from vbks.arrays import Indices
from vbks.grammar.expression import Leaf
from vbks.kernels.bank.terms import RANK_ONE_KINDS, Term, family_at, terms_of
from vbks.kernels.family import BUILT_IN
from vbks.kernels.layout import Layout, Node
from vbks.kernels.registry import family_of

SWEEPS = ("plain", "rational", "rank one", "mixed", "formula", "line", "noise")
"""Terms are sorted by the work they need. The first four have an exponent, of at most one periodic
leaf and no exponential or Matérn ones but for mixed terms, which have anything; the last five may
have rank-one functions; white noise is only there on diagonals."""

EXPONENTS = ("square", "periodic", "rational", "exponential", "matern")
"""Evaluation paths of leaves that are part of an exponent."""

DenseKind = tuple[str, int]
"""Family and number of inputs of leaves that are computed together by their formula."""


WITH_FEATURES = tuple(name for name, own in BUILT_IN.items() if own.evaluation_path in EXPONENTS)
"""Families that may stand beside leaves without features, and then are computed by formula too."""


class DenseTable(NamedTuple):
    """Leaves of one kind that are computed by formula: inputs [L, d] and slots [L, h]."""

    dims: Indices
    slots: Indices


class Structure(NamedTuple):
    """Everything about a list of expressions that their evaluation depends on.

    ``slots`` are the values that terms and leaves need, in groups of ``slot_counts``: scales of
    terms; lengthscales of square, periodic, rational and Matérn leaves; periods; α of rational
    leaves; lengthscales of exponential leaves; location, steepness and width of rank-one functions.
    Targets are term (or radial leaf, or term with exponential leaves) × inputs + input, radial
    leaves being the rational and then the Matérn ones. ``matern_order`` is 2ν. Terms are sorted
    by sweep, and by candidate within a sweep. One periodic leaf has at most
    ``periodics_per_leaf`` cosines.
    ``centred`` are the lengthscales of centred leaves. Terms add up in rows: the first are those of
    candidates, from which those behind them are taken off, whose candidates are
    ``negative_candidate``.
    """

    shares: Indices
    centred: Indices
    slots: Indices
    slot_counts: Indices
    scale_term: Indices
    square_target: Indices
    radial_target: Indices
    rational_term: Indices
    rational_counts: Indices
    exponential_target: Indices
    exponential_term: Indices
    matern_term: Indices
    matern_order: Indices
    periodic_dim: Indices
    rank_one_dim: Indices
    rank_one_kind: Indices
    term_candidate: Indices
    term_row: Indices
    negative_candidate: Indices
    term_counts: Indices
    term_periodics: Indices
    term_rank_ones: Indices
    periodics_per_leaf: Indices
    term_dense: Indices
    dense: tuple[DenseTable, ...]


def structure_of(
    layouts: Sequence[Layout],
    num_slots: int,
    by_formula: bool = False,
    kinds: tuple[DenseKind, ...] = (),
) -> tuple[Structure, tuple[DenseKind, ...]]:
    """Indices for laid-out expressions whose θ are rows of ``num_slots`` numbers.

    Also the kinds of leaves that are computed by formula, in the order of their tables; with
    ``by_formula`` all leaves are. Tables for ``kinds`` are there even if they are empty.
    """
    builder = _Builder(layouts[0].num_inputs, num_slots, len(layouts), kinds)
    members = [
        _sorted_leaves(k, term, by_formula)
        for k, layout in enumerate(layouts)
        for term in terms_of(layout)
    ]
    members.sort(key=lambda member: SWEEPS.index(member.sweep))
    return builder.build(members), tuple(sorted(builder.dense))


class _Member(NamedTuple):
    """A term of a candidate, its leaves sorted by how they are computed."""

    candidate: int
    term: Term
    squares: tuple[Node, ...]
    periodics: tuple[Node, ...]
    rationals: tuple[Node, ...]
    exponentials: tuple[Node, ...]
    materns: tuple[Node, ...]
    dense: tuple[Node, ...]
    by_formula: bool
    is_noise: bool

    @property
    def sweep(self) -> str:
        if self.is_noise:
            return "noise"
        if self.by_formula:
            return "formula"
        if len(self.periodics) > 1 or self.exponentials or self.materns:
            return "mixed"
        if self.rationals and self.term.rank_ones:
            return "mixed"
        if self.rationals:
            return "rational"
        if self.squares or self.periodics:
            return "rank one" if self.term.rank_ones else "plain"
        return "line"


def _sorted_leaves(candidate: int, term: Term, by_formula: bool) -> _Member:
    """Sort the leaves of a term; if one of them has no features, all go by their formulas."""
    is_noise = bool(term.by_path("noise"))
    if by_formula or any(map(term.by_path, ("formula", "centred", "rank one"))):
        dense = tuple(
            node
            for node in term.leaves
            if family_at(node).evaluation_path not in ("constant", "noise")
        )
        return _Member(
            candidate, term, (), (), (), (), (), dense, by_formula=True, is_noise=is_noise
        )
    # Noise is on the diagonal, where all leaves with features are one.
    squares, periodics, rationals, exponentials, materns = (
        () if is_noise else term.by_path(path) for path in EXPONENTS
    )
    return _Member(
        candidate, term, squares, periodics, rationals, exponentials, materns, (), False, is_noise
    )


class _Table(dict[tuple[int, ...], int]):
    """Rows in order of first use, each once; row 0 of the finished table stands for no leaf."""

    def place(self, *row: int) -> int:
        return self.setdefault(row, len(self) + 1)

    def columns(self, width: int) -> Indices:
        return _int32(list(self)).reshape(-1, width).T


class _Builder:
    def __init__(
        self,
        num_inputs: int,
        num_slots: int,
        num_candidates: int,
        kinds: tuple[DenseKind, ...],
    ) -> None:
        self.num_inputs = num_inputs
        self.num_slots = num_slots
        self.num_candidates = num_candidates
        self.zero = num_candidates * num_slots
        self.shares: dict[tuple[int, ...], int] = {}
        self.share_width = 0
        self.centred: dict[int, int] = {}
        self.periodics = _Table()
        self.rank_ones = _Table()
        self.dense: dict[DenseKind, _Table] = {kind: _Table() for kind in kinds}

    def build(self, members: Sequence[_Member]) -> Structure:
        for m in members:
            for slots, _ in m.term.shares:
                self.shares.setdefault(self._at(m.candidate, slots), len(self.shares))
            for slot in self._at(m.candidate, (*m.term.periodics, *m.term.constants)):
                self.centred.setdefault(slot, len(self.centred))
        self.share_width = max((len(slots) + 1 for slots in self.shares), default=0)
        for m in members:
            for node in m.dense:
                self._place_dense(m.candidate, node)
        if self.dense:
            # Tables for all that may stand beside such leaves, so that graphs are few.
            for kind in product(WITH_FEATURES, {1, self.num_inputs}):
                self.dense.setdefault(kind, _Table())
        rationals = [(i, m.candidate, node) for i, m in enumerate(members) for node in m.rationals]
        materns = [(i, m.candidate, node) for i, m in enumerate(members) for node in m.materns]
        scale_slot, scale_term = _pairs(
            (slot, i) for i, m in enumerate(members) for slot in self._scales(m)
        )
        square_slot, square_target = _pairs(
            pair
            for i, m in enumerate(members)
            for node in m.squares
            for pair in self._targets(m.candidate, node, i)
        )
        radials = enumerate([*rationals, *materns])
        radial_slot, radial_target = _pairs(
            pair for j, (_, k, node) in radials for pair in self._targets(k, node, j)
        )
        exponentials = [(i, m) for i, m in enumerate(members) if m.exponentials]
        exponential_slot, exponential_target = _pairs(
            pair
            for j, (_, m) in enumerate(exponentials)
            for node in m.exponentials
            for pair in self._targets(m.candidate, node, j)
        )
        alphas = _int32([self._at(k, node.slots["alpha"])[0] for _, k, node in rationals])
        term_periodics = _padded(self._periodics(m) for m in members)
        term_rank_ones = _padded(self._rank_ones(m) for m in members)
        periodic_dim, periodic_lengthscale, periodic_period = self.periodics.columns(3)
        rank_one_dim, rank_one_kind, *rank_one_slots = self.rank_ones.columns(5)
        groups = [scale_slot, square_slot, periodic_lengthscale, radial_slot, periodic_period]
        groups += [alphas, exponential_slot, *rank_one_slots]
        sweeps = [m.sweep for m in members]
        negative = sorted({m.candidate for m in members if m.term.is_negative})
        return Structure(
            shares=self._share_table(),
            centred=_int32(list(self.centred)),
            slots=np.concatenate(groups),
            slot_counts=_int32([len(group) for group in groups]),
            scale_term=scale_term,
            square_target=square_target,
            radial_target=radial_target,
            rational_term=_int32([i for i, _, _ in rationals]),
            rational_counts=_int32([sum(sweeps[i] == s for i, _, _ in rationals) for s in SWEEPS]),
            exponential_target=exponential_target,
            exponential_term=_int32([i for i, _ in exponentials]),
            matern_term=_int32([i for i, _, _ in materns]),
            matern_order=_int32([family_at(node).order for _, _, node in materns]),
            periodic_dim=periodic_dim,
            rank_one_dim=rank_one_dim,
            rank_one_kind=rank_one_kind,
            term_candidate=_int32([m.candidate for m in members]),
            term_row=_int32([self._row(m, negative) for m in members]),
            negative_candidate=_int32(negative),
            term_counts=_int32([sweeps.count(s) for s in SWEEPS]),
            term_periodics=term_periodics,
            term_rank_ones=term_rank_ones,
            periodics_per_leaf=np.array(
                min(term_periodics.shape[1], self._periodics_per_leaf(members)), np.int32
            ),
            term_dense=_padded(self._denses(m) for m in members),
            dense=tuple(self._dense_table(kind) for kind in sorted(self.dense)),
        )

    def _periodics_per_leaf(self, members: Sequence[_Member]) -> int:
        """The most cosines of one periodic leaf: one for each of its inputs."""
        return max((len(self._inputs(n)) for m in members for n in m.periodics), default=0)

    def _at(self, candidate: int, slots: Iterable[int]) -> tuple[int, ...]:
        return tuple(candidate * self.num_slots + slot for slot in slots)

    def _share_table(self) -> Indices:
        """Log odds of every sum of unit scale, the last term's being 0, and log 0 as padding."""
        rows = [[*slots, self.zero] for slots in self.shares]
        return _padded(rows, fill=self.zero + 1)

    def _row(self, m: _Member, negative: list[int]) -> int:
        if not m.term.is_negative:
            return m.candidate
        return self.num_candidates + negative.index(m.candidate)

    def _scales(self, m: _Member) -> list[int]:
        shares = (
            self.zero + 2 + self.shares[self._at(m.candidate, slots)] * self.share_width + i
            for slots, i in m.term.shares
        )
        periodics = (self._centring(slot, 1) for slot in self._at(m.candidate, m.term.periodics))
        constants = (self._centring(slot, 2) for slot in self._at(m.candidate, m.term.constants))
        return [*self._at(m.candidate, m.term.scales), *shares, *periodics, *constants]

    def _centring(self, slot: int, number: int) -> int:
        """Where one of the three numbers of a centred leaf is."""
        first = self.zero + 2 + len(self.shares) * self.share_width
        return first + 3 * self.centred[slot] + number

    def _inputs(self, node: Node) -> range:
        """The inputs that a leaf acts on, counted from 0."""
        assert isinstance(node.expression, Leaf)
        dim = node.expression.dim
        return range(self.num_inputs) if dim is None else range(dim - 1, dim)

    def _per_input(self, candidate: int, node: Node, name: str) -> tuple[int, ...]:
        """One slot for each input of a leaf, also where all inputs share one."""
        slots, num_inputs = self._at(candidate, node.slots[name]), len(self._inputs(node))
        slots = tuple(self._centring(slot, 0) if slot in self.centred else slot for slot in slots)
        return slots if len(slots) == num_inputs else slots * num_inputs

    def _targets(self, candidate: int, node: Node, place: int) -> list[tuple[int, int]]:
        slots = self._per_input(candidate, node, "lengthscales")
        pairs = zip(slots, self._inputs(node), strict=True)
        return [(slot, place * self.num_inputs + dim) for slot, dim in pairs]

    def _periodics(self, m: _Member) -> list[int]:
        return [
            self.periodics.place(*row)
            for node in m.periodics
            for row in zip(
                self._inputs(node),
                self._per_input(m.candidate, node, "lengthscales"),
                self._per_input(m.candidate, node, "period"),
                strict=True,
            )
        ]

    def _rank_ones(self, m: _Member) -> list[int]:
        return [
            self.rank_ones.place(
                rank_one.dim,
                RANK_ONE_KINDS.index(rank_one.kind),
                *self._at(m.candidate, rank_one.slots),
                *[self.zero] * (3 - len(rank_one.slots)),
            )
            for rank_one in m.term.rank_ones
        ]

    def _place_dense(self, candidate: int, node: Node) -> tuple[DenseKind, int]:
        assert isinstance(node.expression, Leaf)
        family, inputs = family_of(node.expression.family), self._inputs(node)
        slots: list[int] = []
        for parameter in family.parameters:
            if parameter.per_input:
                slots += self._per_input(candidate, node, parameter.name)
            else:
                slots += self._at(candidate, node.slots[parameter.name])
        kind = (family.name, len(inputs))
        return kind, self.dense.setdefault(kind, _Table()).place(*inputs, *slots)

    def _denses(self, m: _Member) -> list[int]:
        places = []
        for node in m.dense:
            kind, place = self._place_dense(m.candidate, node)
            places.append(place + sum(len(self.dense[k]) for k in sorted(self.dense) if k < kind))
        return places

    def _dense_table(self, kind: DenseKind) -> DenseTable:
        family, num_inputs = family_of(kind[0]), kind[1]
        num_slots = sum(num_inputs if p.per_input else 1 for p in family.parameters)
        rows = self.dense[kind].columns(num_inputs + num_slots).T
        return DenseTable(rows[:, :num_inputs], rows[:, num_inputs:])


def _pairs(pairs: Iterable[tuple[int, int]]) -> tuple[Indices, Indices]:
    first, second = _int32(list(pairs)).reshape(-1, 2).T
    return first, second


def _int32(values: object) -> Indices:
    return np.array(values, np.int32)


def _padded(rows: Iterable[list[int]], fill: int = 0) -> Indices:
    given = list(rows)
    width = max((len(row) for row in given), default=0)
    table = np.full((len(given), width), fill, np.int32)
    for row, values in zip(table, given, strict=True):
        row[: len(values)] = values
    return table
