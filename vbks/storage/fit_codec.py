"""The codec of fits: which of the values that they are made of files may hold, and how."""

from __future__ import annotations

from vbks.data.warp_registry import warp_from_values, warp_to_values
from vbks.data.warps import Warp
from vbks.errors import DataError, FileError, GrammarError
from vbks.grammar.expression import Expression, leaves
from vbks.grammar.parser import parse
from vbks.inference.result import (
    ConditionalPosteriors,
    InducingPosterior,
    LocalFit,
    Mode,
    PruningStep,
)
from vbks.kernels.layout import lay_out
from vbks.kernels.registry import family_of
from vbks.storage.codec import Codec, Kind, PlainKind
from vbks.storage.records import Record, as_text, damaged, plain_number


def refuse_opaque(expression: Expression, what: str = "saved") -> None:
    """Refuse an expression that another process could not make sense of."""
    for leaf in leaves(expression):
        if family_of(leaf.family).evaluation_path == "opaque":
            raise FileError(
                f"'{expression}' cannot be {what}: '{leaf.family}' is a GPflow kernel that only "
                "this program knows. Fit without it, or give its formula to vbks.register_family."
            )


def _encode_expression(expression: Expression) -> str:
    refuse_opaque(expression)
    return str(expression)


def _decode_expression(value: object, what: str) -> Expression:
    try:
        return parse(as_text(value, what))
    except GrammarError as error:
        raise FileError(
            f"{what} cannot be read: {error} A family of your own has to be registered "
            "with vbks.register_family before the selection is loaded."
        ) from None


def _encode_warp(warp: Warp) -> dict[str, float | str]:
    values = warp_to_values(warp)
    return {k: v if isinstance(v, str) else plain_number(v) for k, v in values.items()}


def _decode_warp(value: object, what: str) -> Warp:
    try:
        return warp_from_values(Record.of(value, what).values)
    except (DataError, OverflowError) as error:
        raise damaged(f"{what} is no warp: {str(error).rstrip('.')}") from None


def _check_fit(fit: LocalFit, place: str) -> None:
    """Refuse a fit whose parts do not go with each other."""
    if fit.modes:
        _check_length(fit, place)
    if fit.fixed and max(fit.fixed) >= (len(fit.theta) if fit.modes else max(fit.fixed) + 1):
        raise damaged(f"{place} holds parameter {max(fit.fixed)} of {len(fit.theta)}")
    needs = {
        "θ": bool(fit.modes),
        "inducing inputs": fit.bound == "exact" or fit.inducing is not None,
        "q(u)": fit.bound != "stochastic" or fit.q_u is not None,
    }
    for noun, is_there in needs.items():
        if fit.status == "fitted" and not is_there:
            raise damaged(f"{place}, '{fit.expression}', is fitted but has no {noun}")
    if fit.q_u is not None and fit.inducing is None:
        raise damaged(f"{place} has a q(u) but no inducing inputs")


def _check_length(fit: LocalFit, place: str) -> None:
    """Refuse a θ that is not one of the expression, as the family it was of may have changed."""
    try:
        expected = len(lay_out(fit.expression, fit.num_inputs, fit.ard))
    except GrammarError as error:
        raise damaged(f"{place} cannot be read: {str(error).rstrip('.')}") from None
    if len(fit.theta) != expected:
        raise FileError(
            f"{place}, '{fit.expression}', has {len(fit.theta)} parameters, expected "
            f"{expected}. If a family of your own has changed, register it as it was."
        )


FITS = Codec(
    [
        Kind(
            LocalFit,
            "fit",
            sizes={"num_inputs": "D", "inducing": "M D", "theta_samples": "P H"},
            own="HMSP",
            finite=("jitter", "log_jacobian"),
            shared=("inducing",),
            check=_check_fit,
        ),
        Kind(
            Mode,
            "mode",
            sizes={"mean": "H", "factor": "H H"},
            prefix="theta_",
            finite=("weight",),
        ),
        Kind(InducingPosterior, sizes={"mean": "M", "covariance": "M M"}, prefix="u_"),
        Kind(
            ConditionalPosteriors,
            sizes={"theta": "S H", "mean": "S M", "covariance": "S M M"},
            prefix="sample_",
        ),
        Kind(PruningStep, "pruning step"),
    ],
    {
        Expression: PlainKind(_encode_expression, _decode_expression),
        Warp: PlainKind(_encode_warp, _decode_warp),
    },
)
"""Fits of candidates; equal inducing inputs are stored once."""
