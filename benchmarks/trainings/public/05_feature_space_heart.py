"""keras-team/keras-io.

FeatureSpace (13 features, 2 crosses) runs in tf.data for each batch of 32, uncached, for a net of
32 units; by the clock an epoch took 0.66 s (median 1.14), from ready arrays 0.07 s (0.15), from the
same data set cached 0.12 s (0.38): 67-90 %.
From keras-team/keras-io,
examples/structured_data/structured_data_classification_with_feature_space.py.
"""

import tensorflow as tf
from keras.utils import FeatureSpace

from benchmarks.trainings.common import *

BACKEND = "jax"
TRUTH = "input"
# lowest and highest of each number of a patient
INTEGERS = {
    "age": (29, 78),
    "sex": (0, 2),
    "cp": (0, 5),
    "trestbps": (94, 201),
    "chol": (126, 565),
    "fbs": (0, 2),
    "restecg": (0, 3),
    "thalach": (71, 203),
    "exang": (0, 2),
    "slope": (1, 4),
    "ca": (0, 4),
}


def patients(n):
    """In place of heart.csv (303 rows): made-up patients, so many that an epoch has 200 steps."""
    rng = np.random.default_rng(1337)
    found = {name: rng.integers(*ends, n) for name, ends in INTEGERS.items()}
    found["oldpeak"] = np.round(rng.exponential(1.0, n), 1)
    found["thal"] = rng.choice(["fixed", "normal", "reversible"], n)
    return found, rng.integers(0, 2, n)


def case():
    data = tf.data.Dataset.from_tensor_slices(patients(6400)).shuffle(6400).batch(32)
    categories = ("sex", "cp", "fbs", "restecg", "exang", "ca")
    numbers = ("trestbps", "chol", "thalach", "oldpeak", "slope")
    features = {name: FeatureSpace.integer_categorical(num_oov_indices=0) for name in categories}
    features |= {name: FeatureSpace.float_normalized() for name in numbers}
    features["thal"] = FeatureSpace.string_categorical(num_oov_indices=0)
    features["age"] = FeatureSpace.float_discretized(num_bins=30)
    crosses = [
        FeatureSpace.cross(feature_names=("sex", "age"), crossing_dim=64),
        FeatureSpace.cross(feature_names=("thal", "ca"), crossing_dim=16),
    ]
    feature_space = FeatureSpace(features, crosses=crosses, output_mode="concat")
    feature_space.adapt(data.map(lambda x, _: x))
    encoded = data.map(lambda x, y: (feature_space(x), y), num_parallel_calls=tf.data.AUTOTUNE)
    width = int(encoded.element_spec[0].shape[-1])

    def make_model():
        layers = [Input((width,)), Dense(32, "relu"), Dropout(0.5), Dense(1, "sigmoid")]
        return sequential("adam", "binary_crossentropy", *layers)

    return make_model, encoded.prefetch(tf.data.AUTOTUNE), None, dict(epochs=20)
