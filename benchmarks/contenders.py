"""The contenders: the quickstart model without dropout, trained in seven ways.

Each trains the same layers with Adam and reports loss and accuracy of every epoch, as ``fit`` does.
They are written as their users write them. `Session.begin` waits for the contender's turn;
`Session.end` stops the clock, so the device's work is waited for before it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import data as images
from benchmarks.memory import resident_bytes

MANY = 1_000_000  # epochs: the parent says when it is enough
HIDDEN, CLASSES, PIXELS = 128, 10, 28 * 28


@dataclass(frozen=True)
class Contender:
    """One way to train.

    Attributes
    ----------
    backend : str
        Keras's backend ("tensorflow" or "jax"), or "torch" for the one without Keras.
    train : callable
        Takes a `Session`, the data and the sizes; gives the accuracy on the test images.
    says : str
        What it is, in a few words.
    """

    backend: str
    train: Callable
    says: str

    def load(self, folder):
        """Read the data and load the framework; gives the data, and a function of versions."""
        if self.backend == "torch":
            import torch as framework
        else:
            from accel_helpers.machine import backend

            backend.choose()
            framework = sys.modules[self.backend]
        return images.load(folder), lambda: {self.backend: framework.__version__}


class _Enough(Exception):
    """The parent has seen enough epochs: the way out of ``fit``."""


def _turns(session):
    import keras

    from accel_helpers.machine import backend

    class Turns(keras.callbacks.Callback):
        async_safe = True  # lets fit run ahead, as it would without a callback

        def on_epoch_begin(self, epoch, logs=None):
            if not session.begin():
                raise _Enough

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            session.end(logs["loss"], logs["accuracy"])

    return Turns()


def _keras(session, data, model, train) -> float:
    with contextlib.suppress(_Enough):
        train(_turns(session))
    _, accuracy = model.evaluate(data.x_test, data.y_test, batch_size=512, verbose=0)
    return float(accuracy)


def fit(session, data, *, batch_size: int) -> float:
    """``model.fit`` as it is."""
    from accel_helpers.course import quickstart

    model = quickstart.quickstart_model(dropout=0)

    def train(turns):
        model.fit(data.x, data.y, batch_size=batch_size, epochs=MANY, verbose=0, callbacks=[turns])

    return _keras(session, data, model, train)


def fit_tuned(session, data, *, batch_size: int) -> float:
    """``model.fit`` with tf.data, many steps for each return to Python, and XLA."""
    import tensorflow as tf

    from accel_helpers.course import quickstart

    steps = -(-len(data.x) // batch_size)
    model = quickstart.quickstart_model(dropout=0)
    model.compile(
        optimizer="adam",
        loss=model.loss,
        metrics=["accuracy"],
        steps_per_execution=min(steps, 100),
        jit_compile=True,
    )
    batches = (
        tf.data.Dataset.from_tensor_slices((data.x, data.y))
        .cache()
        .shuffle(len(data.x))
        .batch(batch_size)
        .prefetch(tf.data.AUTOTUNE)
    )

    def train(turns):
        model.fit(batches, epochs=MANY, verbose=0, callbacks=[turns])

    return _keras(session, data, model, train)


def fit_resident(session, data, *, batch_size: int, count: int | None = None) -> float:
    """``fit_resident``; with `count`, on so many samples, and with its memory noted."""
    from accel_helpers.course import quickstart
    from accel_helpers.fit import resident

    x, y = data.x, data.y
    if count is not None:
        import numpy as np

        keep = np.arange(count) % len(x)
        x, y = x[keep], y[keep]
    model = quickstart.quickstart_model(dropout=0)
    before, needed = resident_bytes(), x.nbytes + y.nbytes

    def train(turns):
        resident.fit_resident(
            model, x, y, batch_size=batch_size, epochs=MANY, verbose=0, seed=0, callbacks=[turns]
        )

    if count is not None:
        end = session.end

        def end_and_weigh(loss, accuracy):
            session.note(grown=resident_bytes() - before, needed=needed)
            end(loss, accuracy)

        session.end = end_and_weigh
    return _keras(session, data, model, train)


def torch_loop(session, data, *, batch_size: int) -> float:
    """A training loop as a PyTorch user writes it: eager, the data in memory, on the GPU if any."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y = torch.from_numpy(data.x).to(device), torch.from_numpy(data.y).long().to(device)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(PIXELS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)
    ).to(device)
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    while session.begin():
        loss_sum = torch.zeros((), device=device)
        right = torch.zeros((), device=device, dtype=torch.long)
        for take in torch.randperm(len(x), device=device).split(batch_size):
            inputs, labels = x[take], y[take]
            outputs = model(inputs)
            loss = loss_of(outputs, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += loss.detach() * len(take)
            right += (outputs.argmax(1) == labels).sum()
        session.end(loss_sum.item() / len(x), right.item() / len(x))  # item() waits
    with torch.no_grad():
        guesses = model(torch.from_numpy(data.x_test).to(device)).argmax(1).cpu().numpy()
    return float((guesses == data.y_test).mean())


def jax_scan(session, data, *, batch_size: int) -> float:  # noqa: PLR0915 - a training, from top to bottom
    """The same in JAX by hand, without Keras: a whole epoch is one scan, compiled."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    n = len(data.x)
    full = n // batch_size
    x, y = jnp.asarray(data.x.reshape(n, -1)), jnp.asarray(data.y.astype("int32"))
    rng = np.random.default_rng(0)

    def glorot(*shape):
        edge = (6 / sum(shape)) ** 0.5
        return jnp.asarray(rng.uniform(-edge, edge, shape).astype("float32"))

    def outputs_of(weights, inputs):
        w1, b1, w2, b2 = weights
        return jax.nn.relu(inputs @ w1 + b1) @ w2 + b2

    def loss_of(weights, inputs, labels):
        outputs = outputs_of(weights, inputs)
        chances = jax.nn.log_softmax(outputs)
        return -jnp.take_along_axis(chances, labels[:, None], 1).mean(), outputs

    def step(state, take, x, y):
        weights, first, second, count, loss_sum, right = state
        inputs, labels = x[take], y[take]
        (loss, outputs), slopes = jax.value_and_grad(loss_of, has_aux=True)(weights, inputs, labels)
        count += 1
        rate = 0.001 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)  # Adam
        first = [m + 0.1 * (g - m) for m, g in zip(first, slopes, strict=True)]
        second = [v + 0.001 * (g * g - v) for v, g in zip(second, slopes, strict=True)]
        weights = [
            w - rate * m / (jnp.sqrt(v) + 1e-7)
            for w, m, v in zip(weights, first, second, strict=True)
        ]
        loss_sum += loss * len(take)
        right += (outputs.argmax(-1) == labels).sum()
        return weights, first, second, count, loss_sum, right

    def epoch(state, key, x, y):
        order = jax.random.permutation(key, n)
        state = (*state[:4], jnp.float32(0), jnp.int32(0))
        takes = order[: full * batch_size].reshape(full, batch_size)
        state, _ = jax.lax.scan(lambda state, take: (step(state, take, x, y), None), state, takes)
        if n % batch_size:
            state = step(state, order[full * batch_size :], x, y)
        return state

    epoch = jax.jit(epoch, donate_argnums=0)
    weights = [glorot(PIXELS, HIDDEN), jnp.zeros(HIDDEN), glorot(HIDDEN, CLASSES)]
    weights.append(jnp.zeros(CLASSES))
    first, second = ([jnp.zeros_like(w) for w in weights] for _ in range(2))
    state = (weights, first, second, jnp.float32(0), jnp.float32(0), jnp.int32(0))
    key = jax.random.key(0)
    while session.begin():
        key, now = jax.random.split(key)
        state = epoch(state, now, x, y)
        session.end(float(state[4]) / n, int(state[5]) / n)  # float() waits
    guesses = outputs_of(state[0], data.x_test.reshape(len(data.x_test), -1)).argmax(-1)
    return float((np.asarray(guesses) == data.y_test).mean())


CONTENDERS = {
    "fit, TensorFlow": Contender("tensorflow", fit, "`fit` as it is"),
    "fit, JAX": Contender("jax", fit, "`fit` as it is"),
    "fit tuned, TensorFlow": Contender(
        "tensorflow", fit_tuned, "`fit` with `tf.data`, `steps_per_execution` and `jit_compile`"
    ),
    "PyTorch loop": Contender("torch", torch_loop, "a plain loop, eager, the data in memory"),
    "fit_resident, TensorFlow": Contender("tensorflow", fit_resident, "`fit_resident`"),
    "fit_resident, JAX": Contender("jax", fit_resident, "`fit_resident`"),
    "JAX scan by hand": Contender("jax", jax_scan, "no Keras: an epoch is one `jax.lax.scan`"),
}
