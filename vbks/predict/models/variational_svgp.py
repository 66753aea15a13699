"""A sparse variational GP with a posterior over its hyperparameters (VBKS, section 4.1)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gpflow
import numpy as np
import pandas as pd
import tensorflow as tf
from check_shapes import check_shapes, inherit_check_shapes
from gpflow import Parameter
from gpflow.base import InputData, MeanAndVariance, RegressionData, TensorType
from gpflow.conditionals import conditional
from gpflow.covariances import Kuu
from gpflow.kernels import Kernel
from gpflow.likelihoods import Likelihood
from gpflow.models import SVGP
from gpflow.models.util import InducingVariablesLike
from gpflow.posteriors import BasePosterior, PrecomputeCacheType
from scipy.stats import norm

from vbks.arrays import Array
from vbks.errors import VbksError
from vbks.predict.models.substitution import ParameterVector, trainable_parameters
from vbks.predict.models.theta_posterior import Covariance, ThetaPosterior
from vbks.predict.models.theta_views import SdOfTheta, ThetaPart, show_mean, show_own

PRIOR_SD = 1.5
"""Unconstrained values have this prior standard deviation: a factor of four either way for a
parameter whose unconstrained value is its logarithm."""

NUM_SAMPLES = 4
"""Each step takes this many samples of θ, each as expensive as an SVGP; minibatches add noise."""

NUM_PREDICTION_SAMPLES = 32
"""A prediction is over this many samples of θ: a sixth of the spread is left as error of its
mean."""

PREDICTION_SEED = (0, 0)
"""Predictions use the same base samples each time, so that asking twice gives the same answer."""

SPREAD = {
    (False, False): "s...np,s...np->...np",
    (True, False): "s...np,s...mp->...pnm",
    (False, True): "s...np,s...nq->...npq",
    (True, True): "s...np,s...mq->...npmq",
}
"""Covariances over samples s, in the shapes that GPflow has for full_cov and full_output_cov."""


class VariationalSVGP(SVGP):
    """An SVGP with q(θ) = N(μ, CCᵀ) over its unconstrained hyperparameters, after VBKS eq. 9.

    L = E_q(θ)[E_q(f|θ) log p(y|f) − KL(q(u)‖p(u|θ))] − KL(q(θ)‖p(θ)) with θ = Cη + μ, η ~ N(0, I).

    θ is made of the trainable parameters of the kernel and the likelihood. Both are copied, so the
    objects given stay as they are; in the copies the parameters show their values at μ, and are not
    trained themselves. What is trained is μ and C, q(u) and, as point estimates, the inducing
    inputs and the mean function. `gpflow.utilities.print_summary` has the values at μ and
    ``standard_deviations``, and `summary` a table of q(θ) alone.

    p(θ) is Gaussian, by default around the values that the parameters came with. Priors that
    parameters carry for GPflow are left out: p(θ) takes their place.

    `covariance` is that of q(θ): "full", "diagonal" or "point". A point has an infinite
    KL(q(θ)‖p(θ)), which is left out: `elbo` is then that of an SVGP, a bound of log p(y|θ) in which
    more parameters cost nothing. Its `training_loss` adds log p(θ), as GPflow does for any prior.

    q(u) is integrated out as in GPflow or, with `sample_inducing`, sampled as u = C_u η_u + m_u,
    which is the paper's way; the bound is the same, its estimate has more noise.

    q(u) is that of the function's own values, as in the paper: those that are likely under all
    likely θ are about the same, while whitened ones change with every scale in θ. With `whiten`,
    the whitened values are independent of θ instead. Unless it is given, q(u) starts as p(u).

    Predictions are averaged over samples of θ. Two threads must not evaluate one model at once.
    """

    def __init__(
        self,
        kernel: Kernel,
        likelihood: Likelihood,
        inducing_variable: InducingVariablesLike,
        *,
        covariance: Covariance = "full",
        prior_mean: TensorType | None = None,
        prior_sd: TensorType = PRIOR_SD,
        num_samples: int = NUM_SAMPLES,
        num_prediction_samples: int = NUM_PREDICTION_SAMPLES,
        sample_inducing: bool = False,
        whiten: bool = False,
        **svgp_arguments: Any,
    ) -> None:
        if min(num_samples, num_prediction_samples) < 1:
            raise VbksError(
                "num_samples and num_prediction_samples must be at least 1, "
                f"got {num_samples} and {num_prediction_samples}."
            )
        kernel, likelihood = copy.deepcopy((kernel, likelihood))
        super().__init__(kernel, likelihood, inducing_variable, whiten=whiten, **svgp_arguments)
        if not whiten and not {"q_mu", "q_sqrt"} & set(svgp_arguments):
            self._start_from_prior()
        self._theta = ParameterVector(trainable_parameters(kernel=kernel, likelihood=likelihood))
        if not len(self._theta):
            raise VbksError(
                "neither the kernel nor the likelihood has a trainable parameter, so there is no θ "
                "to be uncertain about. Use gpflow.models.SVGP or gpflow.set_trainable."
            )
        self._theta.set_trainable(False)
        start = self._theta.read().numpy()
        prior_mean = start if prior_mean is None else prior_mean
        self.q_theta = ThetaPosterior(start, covariance, prior_mean, prior_sd)
        self.standard_deviations = self._show_posterior()
        """Standard deviations of the unconstrained numbers of each parameter, by its path."""
        self.num_samples = num_samples
        self.num_prediction_samples = num_prediction_samples
        self.sample_inducing = sample_inducing

    def _start_from_prior(self) -> None:
        """Let q(u) be p(u) where the inducing values of all outputs have one covariance."""
        K = Kuu(self.inducing_variable, self.kernel, jitter=gpflow.config.default_jitter())
        if K.shape.rank != 2:
            return
        if self.q_sqrt.shape.rank == 2:
            self.q_sqrt.assign(
                tf.broadcast_to(tf.sqrt(tf.linalg.diag_part(K))[:, None], self.q_sqrt.shape)
            )
        else:
            self.q_sqrt.assign(tf.broadcast_to(tf.linalg.cholesky(K), self.q_sqrt.shape))

    def _show_posterior(self) -> dict[str, SdOfTheta]:
        """Let parameters of kernel and likelihood read μ, and return their spreads."""
        found: dict[str, SdOfTheta] = {}
        for path, parameter, start, shape in self._theta.parts:
            part = ThetaPart(self.q_theta, start, shape)
            show_mean(parameter, part)
            if not self.q_theta.is_point:
                found[path.removeprefix(".")] = SdOfTheta(part)
        return found

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Paths of the numbers in θ, as in `gpflow.utilities.parameter_dict` of this model."""
        return self._theta.names

    @property
    def theta_mean(self) -> Parameter:
        """μ."""
        return self.q_theta.mean

    @property
    def theta_sd(self) -> tf.Tensor:
        """Standard deviations of the numbers in θ, which are unconstrained: [H]."""
        return self.q_theta.sd

    def summary(self, level: float = 0.9) -> pd.DataFrame:
        """A table of the numbers in θ: values at μ, intervals in the parameters' own units.

        ``mean`` and ``sd`` are those of q(θ), which is over unconstrained numbers. Between ``low``
        and ``high`` lies the share ``level`` of q(θ).
        """
        mean, sd = self.theta_mean.numpy(), self.theta_sd.numpy()
        reach = norm.ppf(0.5 + 0.5 * level) * sd
        ends = {"value": mean, "low": mean - reach, "high": mean + reach}
        columns = {name: self._constrained(theta) for name, theta in ends.items()}
        index = pd.Index(self.theta_names, name="parameter")
        return pd.DataFrame({**columns, "mean": mean, "sd": sd}, index)

    def _constrained(self, theta: Array) -> Array:
        """θ as values of the parameters: [H]."""
        with self._theta.at(theta):
            return np.concatenate([parameter.numpy().reshape(-1) for parameter in self._theta])

    @property
    def theta_covariance(self) -> tf.Tensor:
        """CCᵀ."""
        return self.q_theta.covariance

    @check_shapes("return: [S, E]")
    def draw_eta(self, num_samples: int | None = None) -> tf.Tensor:
        """Base samples for `elbo`: a column for each number in θ and, if it is sampled, in u."""
        if self.q_theta.is_point and not self.sample_inducing:
            num_samples = 1
        return _normal(num_samples or self.num_samples, self.num_sampled)

    @check_shapes("data[0]: [N, D]", "data[1]: [N, P]", "eta: [S, E]", "return: []")
    def elbo(self, data: RegressionData, eta: TensorType | None = None) -> tf.Tensor:
        """An unbiased estimate of the bound, from new base samples or from those given.

        With `num_data`, the rows given stand for all rows. With `eta`, it is a deterministic
        function, as `gpflow.optimizers.Scipy` needs; base samples may be stratified.
        """
        eta = self.draw_eta() if eta is None else tf.cast(eta, gpflow.default_float())
        if eta.shape[-1] != self.num_sampled:
            raise VbksError(
                f"eta must have {self.num_sampled} columns, one for each number that is sampled, "
                f"got {eta.shape[-1]}. draw_eta() makes one that fits."
            )
        values = self._over_theta(lambda row: self._given(row).elbo(data), eta)
        return tf.reduce_mean(values) - self.q_theta.kl()

    @inherit_check_shapes
    def prior_kl(self) -> tf.Tensor:
        """KL(q(u)‖p(u|θ)), averaged over the samples of θ that predictions use."""
        return tf.reduce_mean(self._predict(lambda svgp: svgp.prior_kl()))

    @inherit_check_shapes
    def predict_f(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        """Mean and covariance of the function, by total variance over samples of θ."""
        moments = self._predict(lambda svgp: svgp.predict_f(Xnew, full_cov, full_output_cov), 2)
        return _mix(moments, SPREAD[full_cov, full_output_cov])

    @inherit_check_shapes
    def predict_y(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        """Mean and variance of new data, by total variance over samples of θ."""
        moments = self._predict(lambda svgp: svgp.predict_y(Xnew, full_cov, full_output_cov), 2)
        return _mix(moments, SPREAD[full_cov, full_output_cov])

    @inherit_check_shapes
    def predict_log_density(
        self, data: RegressionData, full_cov: bool = False, full_output_cov: bool = False
    ) -> tf.Tensor:
        """Log density of new data under the mixture over samples of θ."""
        densities = self._predict(
            lambda svgp: svgp.predict_log_density(data, full_cov, full_output_cov)
        )
        count = tf.cast(tf.shape(densities)[0], densities.dtype)
        return tf.reduce_logsumexp(densities, axis=0) - tf.math.log(count)

    @inherit_check_shapes
    def predict_f_samples(
        self,
        Xnew: InputData,
        num_samples: int | None = None,
        full_cov: bool = True,
        full_output_cov: bool = False,
    ) -> tf.Tensor:
        """Functions from the posterior, each drawn with a θ of its own."""
        draws = self._over_theta(
            lambda _: self._svgp().predict_f_samples(Xnew, None, full_cov, full_output_cov),
            _normal(num_samples or 1, len(self._theta)),
        )
        return draws[0] if num_samples is None else tf.einsum("s...np->...snp", draws)

    def predict_at_samples(self, Xnew: InputData, of_y: bool = False) -> MeanAndVariance:
        """Means and variances [S, ..., N, P] at each of the samples of θ behind predictions."""
        name = "predict_y" if of_y else "predict_f"
        found: MeanAndVariance = self._predict(lambda svgp: getattr(svgp, name)(Xnew), 2)
        return found

    def posterior(
        self, precompute_cache: PrecomputeCacheType = PrecomputeCacheType.TENSOR
    ) -> BasePosterior:
        """The posterior of the function at the mean of q(θ), as it is now."""
        return self.at_mean().posterior(precompute_cache)

    def at_mean(self) -> SVGP:
        """A copy as an ordinary SVGP, with hyperparameters at the mean of q(θ) and trainable."""
        kernel, likelihood, inducing_variable, mean_function, theta = copy.deepcopy(
            (self.kernel, self.likelihood, self.inducing_variable, self.mean_function, self._theta),
            {id(self.q_theta): self.q_theta},
        )
        for parameter in theta:
            show_own(parameter)
        theta.assign(self.theta_mean)
        theta.set_trainable(True)
        return SVGP(
            kernel,
            likelihood,
            inducing_variable,
            mean_function=mean_function,
            num_latent_gps=self.num_latent_gps,
            q_diag=self.q_sqrt.shape.rank == 2,
            q_mu=self.q_mu.numpy(),
            q_sqrt=self.q_sqrt.numpy(),
            whiten=self.whiten,
            num_data=self.num_data,
        )

    @property
    def num_sampled(self) -> int:
        """Columns that base samples for `elbo` have."""
        return len(self._theta) + (int(np.prod(self.q_mu.shape)) if self.sample_inducing else 0)

    def _over_theta(
        self, evaluate: Callable[[tf.Tensor], Any], eta: tf.Tensor, num_results: int = 1
    ) -> Any:
        """Stacked results of a function of the rows of η, called with θ in place."""

        def evaluate_at_theta(row: tf.Tensor) -> Any:
            with self._theta.at(self.q_theta.at(row[: len(self._theta)])):
                return evaluate(row)

        if tf.executing_eagerly():
            # Rewritten for graphs, as map_fn would have it, all of this takes forty times as long.
            evaluate_at_theta = tf.autograph.experimental.do_not_convert(evaluate_at_theta)
        dtype = gpflow.default_float()
        signature = dtype if num_results == 1 else (dtype,) * num_results
        return tf.map_fn(evaluate_at_theta, eta, fn_output_signature=signature)

    def _predict(self, evaluate: Callable[[SVGP], Any], num_results: int = 1) -> Any:
        """Stacked results of a function of the SVGP, for the base samples of predictions."""
        shape = [1 if self.q_theta.is_point else self.num_prediction_samples, len(self._theta)]
        eta = tf.random.stateless_normal(shape, PREDICTION_SEED, dtype=gpflow.default_float())
        return self._over_theta(lambda _: evaluate(self._svgp()), eta, num_results)

    def _given(self, row: tf.Tensor) -> SVGP:
        """The SVGP whose bound is averaged, for one row of η."""
        if not self.sample_inducing:
            return self._svgp()
        eta = tf.reshape(row[len(self._theta) :], self.q_mu.shape)
        is_diagonal = self.q_sqrt.shape.rank == 2
        step = self.q_sqrt * eta if is_diagonal else tf.einsum("pmn,np->mp", self.q_sqrt, eta)
        return self._svgp(_GivenInducing, u=self.q_mu + step)

    def _svgp(self, kind: type[SVGP] = SVGP, **more: tf.Tensor) -> SVGP:
        """An SVGP that shares the parts of this model but does not know of q(θ)."""
        svgp = kind.__new__(kind)
        svgp.__dict__.update(self.__dict__, **more)
        return svgp


class _GivenInducing(SVGP):
    """An SVGP that predicts from one value of u; `prior_kl` is that of q(u) all the same."""

    u: tf.Tensor

    @inherit_check_shapes
    def predict_f(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        mean, variance = conditional(
            Xnew,
            self.inducing_variable,
            self.kernel,
            self.u,
            full_cov=full_cov,
            full_output_cov=full_output_cov,
            white=self.whiten,
        )
        return mean + self.mean_function(Xnew), variance


def _normal(*shape: int) -> tf.Tensor:
    return tf.random.normal(shape, dtype=gpflow.default_float())


@check_shapes("moments[0]: [S, batch..., N, P]", "return[0]: [batch..., N, P]")
def _mix(moments: MeanAndVariance, spread: str) -> MeanAndVariance:
    """Mean and covariance of an even mixture, by total expectation and total variance."""
    means, covariances = moments
    mean = tf.reduce_mean(means, axis=0)
    distance = means - mean
    count = tf.cast(tf.shape(means)[0], means.dtype)
    return mean, tf.reduce_mean(covariances, axis=0) + tf.einsum(spread, distance, distance) / count
