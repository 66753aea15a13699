import math

import numpy as np

from vbks.properties.properties import properties_of

X = np.linspace(0.0, 10.0, 40)


def test_properties__of_an_average_are_all_there(averaged):
    y = 5.0 + X + np.sin(np.pi * X)
    values = {"period": math.log(2.0 / np.std(X))}
    found = properties_of(*averaged(X, y, [("LIN + PER", values, 1.0)]))
    assert [own.name for own in found][:5] == ["cycle", "trend", "swings", "change", "noise"]
    assert found.trend.up > 0.99 and found.cycle.probability == 1.0
