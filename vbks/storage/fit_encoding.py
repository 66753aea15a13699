"""Fits as plain values and packed arrays, and back."""

from __future__ import annotations

from typing import Any, get_args

from vbks.arrays import Array
from vbks.data.warp_registry import warp_from_values, warp_to_values
from vbks.data.warps import Warp
from vbks.errors import DataError, FileError, GrammarError
from vbks.grammar.expression import Expression, leaves
from vbks.grammar.parser import parse
from vbks.inference.result import (
    Bound,
    ConditionalPosteriors,
    InducingPosterior,
    LocalFit,
    Mode,
    Posterior,
    PruningStep,
    Status,
)
from vbks.kernels.layout import lay_out
from vbks.kernels.registry import family_of
from vbks.storage.records import Packing, Record, Unpacking, damaged, plain_number

FIT_ARRAYS = (
    "theta_mean",
    "theta_factor",
    "u_mean",
    "u_covariance",
    "sample_theta",
    "sample_mean",
    "sample_covariance",
)
"""Names of the arrays that fits are packed into."""


class InducingInputs:
    """The inducing inputs of all fits, each different table once."""

    def __init__(self) -> None:
        self.tables: list[Array] = []
        self._places: dict[tuple[tuple[int, ...], bytes], int] = {}

    def run_context(self, table: Array | None) -> int | None:
        """Where a table is, after it was added if it is new."""
        if table is None:
            return None
        place = self._places.setdefault((table.shape, table.tobytes()), len(self.tables))
        if place == len(self.tables):
            self.tables.append(table)
        return place

    def pack(self, packing: Packing) -> list[int]:
        """Pack all tables, and tell how long each is."""
        for table in self.tables:
            packing.add("inducing", table)
        return [len(table) for table in self.tables]

    @staticmethod
    def unpack(record: Record, num_inputs: int, unpacking: Unpacking) -> list[Array]:
        """The tables of a record that has their lengths."""
        return [unpacking.take("inducing", size, num_inputs) for size in record.counts("inducing")]


def encode_fit(fit: LocalFit, inducing: InducingInputs, packing: Packing) -> dict[str, Any]:
    """The plain values of a fit, whose arrays are packed."""
    refuse_opaque(fit.expression)
    for mode in fit.modes:
        packing.add("theta_mean", mode.mean)
        packing.add("theta_factor", mode.factor)
    if fit.q_u is not None:
        packing.add("u_mean", fit.q_u.mean)
        packing.add("u_covariance", fit.q_u.covariance)
        if fit.q_u.samples is not None:
            packing.add("sample_theta", fit.q_u.samples.theta)
            packing.add("sample_mean", fit.q_u.samples.mean)
            packing.add("sample_covariance", fit.q_u.samples.covariance)
    return {
        "expression": str(fit.expression),
        "warp": warp_to_values(fit.warp),
        "log_jacobian": plain_number(fit.log_jacobian),
        "num_inputs": int(fit.num_inputs),
        "num_rows": int(fit.num_rows),
        "bound": fit.bound,
        "posterior": fit.posterior,
        "num_free": int(fit.num_free),
        "fixed": [int(slot) for slot in fit.fixed],
        "status": fit.status,
        "reason": fit.reason,
        "elbo": plain_number(fit.elbo),
        "standard_error": plain_number(fit.standard_error),
        "evidence": plain_number(fit.evidence),
        "evidence_error": plain_number(fit.evidence_error),
        "most_probable": plain_number(fit.most_probable),
        "upper": plain_number(fit.upper),
        "held_out": plain_number(fit.held_out),
        "num_parameters": len(fit.modes[0].mean) if fit.modes else 0,
        "modes": [_encode_mode(mode) for mode in fit.modes],
        "inducing": inducing.run_context(fit.inducing),
        "q_u": None if fit.q_u is None else len(fit.q_u.mean),
        "samples": _num_samples(fit),
        "jitter": plain_number(fit.jitter),
        "ard": bool(fit.ard),
        "converged": bool(fit.converged),
        "restarts": int(fit.restarts),
        "seconds": plain_number(fit.seconds),
        "race": [encode_pruning_step(step) for step in fit.pruning],
        "notices": list(fit.notices),
    }


def decode_fit(
    record: Record, num_inputs: int, inducing: list[Array], unpacking: Unpacking
) -> LocalFit:
    """The fit of plain values and the next arrays, if they go with each other and the data."""
    given = record.count("num_inputs")
    if given != num_inputs:
        raise record.wrong("num_inputs", given, f"the {num_inputs} of the data")
    fit = LocalFit(
        expression=_expression(record),
        num_inputs=num_inputs,
        num_rows=record.count("num_rows"),
        bound=record.one_of("bound", get_args(Bound)),
        posterior=record.one_of("posterior", get_args(Posterior)),
        num_free=record.count("num_free"),
        fixed=_fixed(record),
        status=record.one_of("status", get_args(Status)),
        reason=record.text("reason"),
        elbo=record.number("elbo"),
        standard_error=record.number("standard_error"),
        evidence=record.number("evidence"),
        evidence_error=record.number("evidence_error"),
        most_probable=record.number("most_probable"),
        upper=record.number("upper"),
        held_out=record.number("held_out"),
        modes=_decode_modes(record, unpacking),
        inducing=_inducing(record, inducing),
        q_u=_decode_q_u(record, unpacking),
        jitter=record.finite("jitter"),
        ard=record.flag("ard"),
        converged=record.flag("converged"),
        restarts=record.count("restarts"),
        seconds=record.number("seconds"),
        pruning=tuple(decode_pruning_step(step) for step in record.records("race", "pruning step")),
        notices=record.texts("notices"),
        warp=decode_warp(record),
        log_jacobian=record.finite("log_jacobian"),
    )
    _check_length(fit, record)
    _check_complete(fit, record)
    return fit


def decode_warp(record: Record) -> Warp:
    """The warp that a record has."""
    try:
        return warp_from_values(record.record("warp").values)
    except (DataError, OverflowError) as error:
        raise damaged(f"{record.place} has no warp: {str(error).rstrip('.')}") from None


def _encode_mode(mode: Mode) -> dict[str, Any]:
    return {
        "weight": plain_number(mode.weight),
        "log_likelihood": plain_number(mode.log_likelihood),
        "log_prior": plain_number(mode.log_prior),
        "log_volume": plain_number(mode.log_volume),
        "elbo": plain_number(mode.elbo),
    }


def _decode_modes(record: Record, unpacking: Unpacking) -> tuple[Mode, ...]:
    H = record.count("num_parameters")
    return tuple(
        Mode(
            mean=unpacking.take("theta_mean", H),
            factor=unpacking.take("theta_factor", H, H),
            weight=mode.finite("weight"),
            log_likelihood=mode.number("log_likelihood"),
            log_prior=mode.number("log_prior"),
            log_volume=mode.number("log_volume"),
            elbo=mode.number("elbo"),
        )
        for mode in record.records("modes", "mode")
    )


def _num_samples(fit: LocalFit) -> int:
    """Samples of θ that have a posterior of their own."""
    samples = None if fit.q_u is None else fit.q_u.samples
    return 0 if samples is None else len(samples.theta)


def _fixed(record: Record) -> tuple[int, ...]:
    H = record.count("num_parameters")
    fixed = record.counts("fixed")
    if fixed and max(fixed) >= H > 0:
        raise record.wrong("fixed", max(fixed), f"a number below {H}")
    return tuple(fixed)


def _decode_q_u(record: Record, unpacking: Unpacking) -> InducingPosterior | None:
    if record.is_null("q_u"):
        return None
    M = record.count("q_u")
    mean, covariance = unpacking.take("u_mean", M), unpacking.take("u_covariance", M, M)
    return InducingPosterior(mean, covariance, _decode_samples(record, unpacking, M))


def _decode_samples(record: Record, unpacking: Unpacking, M: int) -> ConditionalPosteriors | None:
    S = record.count("samples")
    if not S:
        return None
    return ConditionalPosteriors(
        unpacking.take("sample_theta", S, record.count("num_parameters")),
        unpacking.take("sample_mean", S, M),
        unpacking.take("sample_covariance", S, M, M),
    )


def encode_pruning_step(step: PruningStep) -> dict[str, Any]:
    """The plain values of a decision of pruning."""
    return {
        "stage": step.stage,
        "value": plain_number(step.value),
        "best": plain_number(step.best),
        "went_on": bool(step.went_on),
    }


def decode_pruning_step(record: Record) -> PruningStep:
    """The decision of plain values."""
    return PruningStep(
        record.text("stage"), record.number("value"), record.number("best"), record.flag("went_on")
    )


def _inducing(record: Record, tables: list[Array]) -> Array | None:
    if record.is_null("inducing"):
        return None
    place = record.count("inducing")
    if place >= len(tables):
        raise record.wrong("inducing", place, f"a number below {len(tables)}")
    return tables[place]


def _expression(record: Record) -> Expression:
    try:
        return parse(record.text("expression"))
    except GrammarError as error:
        raise FileError(
            f"{record.place} cannot be read: {error} A family of your own has to be registered "
            "with vbks.register_family before the selection is loaded."
        ) from None


def refuse_opaque(expression: Expression, what: str = "saved") -> None:
    """Refuse an expression that another process could not make sense of."""
    for leaf in leaves(expression):
        if family_of(leaf.family).evaluation_path == "opaque":
            raise FileError(
                f"'{expression}' cannot be {what}: '{leaf.family}' is a GPflow kernel that only "
                "this program knows. Fit without it, or give its formula to vbks.register_family."
            )


def _check_length(fit: LocalFit, record: Record) -> None:
    """Refuse a θ that is not one of the expression, as the family it was of may have changed."""
    if not fit.modes:
        return
    try:
        expected = len(lay_out(fit.expression, fit.num_inputs, fit.ard))
    except GrammarError as error:
        raise damaged(f"{record.place} cannot be read: {str(error).rstrip('.')}") from None
    if len(fit.theta) != expected:
        raise FileError(
            f"{record.place}, '{fit.expression}', has {len(fit.theta)} parameters, expected "
            f"{expected}. If a family of your own has changed, register it as it was."
        )


def _check_complete(fit: LocalFit, record: Record) -> None:
    """Refuse a fit that lacks what predictions need."""
    M = None if fit.inducing is None else len(fit.inducing)
    needs = {
        "θ": bool(fit.modes),
        "inducing inputs": fit.bound == "exact" or M is not None,
        "q(u)": fit.bound != "stochastic" or fit.q_u is not None,
    }
    for noun, is_there in needs.items():
        if fit.status == "fitted" and not is_there:
            raise damaged(f"{record.place}, '{fit.expression}', is fitted but has no {noun}")
    if fit.q_u is not None and len(fit.q_u.mean) != M:
        raise damaged(f"{record.place} has a q(u) of {len(fit.q_u.mean)} values, expected {M}")
