"""ageron/handson-ml2.

363 steps of batches of 32 through layers of 30 units, twelve calls of Dense and Nadam on them; a
step takes 2.06 ms as called (median; 10th percentile 1.32), of the copy with one neuron at batch 1
1.76 ms (1.11): 84-85 %; by whole epochs 0.46 of 0.65 s (best of 12): 72 %.
From ageron/handson-ml2, 12_custom_models_and_training_with_tensorflow.ipynb (section Custom Models:
ResidualRegressor on California housing, batches of 32).
"""

from benchmarks.trainings.common import *

BACKEND = "tensorflow"
TRUTH = "overhead"
ELU = dict(activation="elu", kernel_initializer="he_normal")


class ResidualBlock(Layer):
    def __init__(self, n_layers, n_neurons):
        super().__init__()
        self.hidden = [Dense(n_neurons, **ELU) for _ in range(n_layers)]

    def call(self, inputs):
        return inputs + through(inputs, *self.hidden)


class ResidualRegressor(keras.Model):
    def __init__(self, output_dim, neurons=30):
        super().__init__()
        self.hidden1 = Dense(neurons, **ELU)
        self.block1 = ResidualBlock(2, neurons)
        self.block2 = ResidualBlock(2, neurons)
        self.out = Dense(output_dim)

    def call(self, inputs):
        Z = self.hidden1(inputs)
        for _ in range(1 + 3):
            Z = self.block1(Z)
        return self.out(self.block2(Z))


def make_model():
    model = ResidualRegressor(1)
    model(np.zeros((1, 8)))
    return compiled(model, "nadam", "mse", [])


def case():
    # in place of fetch_california_housing: as many rows (11 610) of eight standardized numbers
    rng = np.random.default_rng(42)
    x = rng.normal(size=(11610, 8))
    y = 2 + 0.8 * x[:, 0] - 0.9 * x[:, 6] - 0.9 * x[:, 7] + 0.5 * rng.normal(size=11610)
    return make_model, x, np.clip(y, 0.15, 5).reshape(-1, 1), dict(epochs=20)
