"""Ways in and out for other libraries: scikit-learn and TensorBoard."""

from vbks.integrations.sklearn import VBKSRegressor
from vbks.integrations.tensorboard import TensorBoard

__all__ = ["TensorBoard", "VBKSRegressor"]
