BACKEND = "tensorflow"
TRUTH = "overhead"
WHY = "363 steps of batches of 32 through layers of 30 units, twelve calls of Dense and Nadam on them; a step takes 2.06 ms as called (median; 10th percentile 1.32), of the copy with one neuron at batch 1 1.76 ms (1.11): 84-85 %; by whole epochs 0.46 of 0.65 s (best of 12): 72 %."
SOURCE = (
    "ageron/handson-ml2, 12_custom_models_and_training_with_tensorflow.ipynb (section Custom Models: "
    "ResidualRegressor on California housing, batches of 32)"
)


def case(neurons=30):
    import keras
    import numpy as np

    # in place of fetch_california_housing: as many rows (11 610) of eight standardized numbers
    rng = np.random.default_rng(42)
    X_train_scaled = rng.normal(size=(11610, 8))
    y_train = np.clip(
        2
        + 0.8 * X_train_scaled[:, 0]
        - 0.9 * X_train_scaled[:, 6]
        - 0.9 * X_train_scaled[:, 7]
        + 0.5 * rng.normal(size=11610),
        0.15,
        5,
    ).reshape(-1, 1)

    class ResidualBlock(keras.layers.Layer):
        def __init__(self, n_layers, n_neurons, **kwargs):
            super().__init__(**kwargs)
            self.hidden = [
                keras.layers.Dense(n_neurons, activation="elu", kernel_initializer="he_normal")
                for _ in range(n_layers)
            ]

        def call(self, inputs):
            Z = inputs
            for layer in self.hidden:
                Z = layer(Z)
            return inputs + Z

    class ResidualRegressor(keras.models.Model):
        def __init__(self, output_dim, **kwargs):
            super().__init__(**kwargs)
            self.hidden1 = keras.layers.Dense(
                neurons, activation="elu", kernel_initializer="he_normal"
            )
            self.block1 = ResidualBlock(2, neurons)
            self.block2 = ResidualBlock(2, neurons)
            self.out = keras.layers.Dense(output_dim)

        def call(self, inputs):
            Z = self.hidden1(inputs)
            for _ in range(1 + 3):
                Z = self.block1(Z)
            Z = self.block2(Z)
            return self.out(Z)

    def make_model():
        model = ResidualRegressor(1)
        model(X_train_scaled[:1])
        model.compile(loss="mse", optimizer="nadam")
        return model

    return make_model, X_train_scaled, y_train, dict(epochs=20)
