"""The work in one training step of a Keras model: its operations and bytes, counted layer by layer.

Nothing is run: shapes and formulas are enough. The rules, so that you can check any row by hand:

* A product of (m, k) and (k, n) takes 2mkn operations. Going back, a layer has one product for its
  weights, unless they are frozen, and one for its input, unless nothing before it is trained.
* Where a filter lies over the padding of "same" nothing is multiplied, and nothing is counted.
* An elementwise operation counts one for each element. Roots, powers, exponentials, logarithms and
  the like are left out, as in XLA's own count, which keeps them apart. (For the error function
  in gelu XLA writes some 60 operations; here it counts as one of them.) Metrics are left out too.
* Bytes: a layer is one operation. What it needs is read once, what it makes is written once, and
  going back the same holds for gradients and for what was kept. The loop of a recurrent layer
  reads its weights in every step. Flatten and Reshape move nothing.

The bytes are those of a machine that keeps nothing between two layers and fuses everything within
one. Caches, and a compiler that fuses across layers, make the true figure smaller; one that fuses
less makes it larger. XLA's "bytes accessed" for the models of lesson 03, dropout or not, is between
2 and 11 times this count before it fuses anything, and between 1 and 2 times after
(`tests/test_work.py` asks it).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import prod

from accel_helpers.measure.work_rules import name_of, parts_of

LOSSES = {  # for each element of the output; on probabilities
    "sparse_categorical_crossentropy": (9, 12),
    "categorical_crossentropy": (7, 12),
    "binary_crossentropy": (10, 12),
    "mean_squared_error": (3, 3),
    "mean_absolute_error": (3, 3),
}
LOSSES_ON_LOGITS = {
    "sparse_categorical_crossentropy": (8, 5),
    "categorical_crossentropy": (6, 5),
    "binary_crossentropy": (7, 5),
}
# Operations for each trained number, and numbers that are kept beside it, from `update_step` in
# Keras's source (keras/src/optimizers); Adam is algorithm 1 of Kingma and Ba, arXiv:1412.6980,
# in the order of the remark at the end of its section 2.
OPTIMIZERS = {
    "SGD": (2, 0),
    "Adam": (11, 2),
    "AdamW": (11, 2),
    "Adamax": (11, 2),
    "Nadam": (17, 2),
    "RMSprop": (8, 1),
    "Adagrad": (6, 1),
    "Adadelta": (15, 2),
    "Lion": (9, 1),
}
OPTIONS = {  # what a setting of the optimizer adds
    ("SGD", "momentum"): (2, 1),
    ("SGD", "nesterov"): (3, 0),
    ("Adam", "amsgrad"): (1, 1),
    ("AdamW", "amsgrad"): (1, 1),
    ("RMSprop", "momentum"): (2, 1),
    ("RMSprop", "centered"): (5, 1),
}
WEIGHT_DECAY, AVERAGE = (3, 0), (3, 1)  # of any optimizer: weight_decay, use_ema


@dataclass(frozen=True)
class LayerWork:
    """The work of one layer in one training step.

    Attributes
    ----------
    name, kind : str
        The layer's name and the name of its class.
    parameters : int
        Numbers in its weights; 0 where the layer stands a second time.
    forward_flops, backward_flops : int
        Floating-point operations of the forward and of the backward pass.
    bytes : int
        Read and written, both passes together.
    product_flops : int
        The part of the operations that is matrix products and convolutions.
    """

    name: str
    kind: str
    parameters: int
    forward_flops: int
    backward_flops: int
    bytes: int
    product_flops: int = 0


@dataclass(frozen=True)
class StepWork:
    """The work of one training step.

    Attributes
    ----------
    batch_size : int
    layers : tuple of LayerWork
        In the order in which they are used.
    loss_flops : int
        Operations of the loss, both passes.
    optimizer_flops, optimizer_bytes : int
        Operations, and bytes read and written, of the update of the weights.
    notes : tuple of str
        What was not counted.
    loss_bytes : int
        Read and written by the loss.
    """

    batch_size: int
    layers: tuple[LayerWork, ...]
    loss_flops: int
    optimizer_flops: int
    optimizer_bytes: int
    notes: tuple[str, ...] = ()
    loss_bytes: int = 0

    @property
    def flops(self) -> int:
        """All operations of the step."""
        layers = sum(row.forward_flops + row.backward_flops for row in self.layers)
        return layers + self.loss_flops + self.optimizer_flops

    @property
    def product_flops(self) -> int:
        """Operations of the matrix products and convolutions alone."""
        return sum(row.product_flops for row in self.layers)

    @property
    def bytes(self) -> int:
        """All bytes read and written in the step."""
        return sum(row.bytes for row in self.layers) + self.loss_bytes + self.optimizer_bytes

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.flops / self.bytes

    def to_dict(self) -> dict:
        """The count as plain JSON types."""
        totals = ("flops", "product_flops", "bytes", "intensity")
        found = {**asdict(self), **{name: getattr(self, name) for name in totals}}
        return {**found, "layers": list(found["layers"]), "notes": list(self.notes)}

    def __str__(self) -> str:
        rows = [
            (r.name, r.kind, r.parameters, r.forward_flops + r.backward_flops, r.bytes)
            for r in self.layers
        ]
        rows += [("loss", "", "", self.loss_flops, self.loss_bytes)]
        rows += [("optimizer", "", "", self.optimizer_flops, self.optimizer_bytes)]
        head = ("layer", "kind", "parameters", "operations", "bytes")
        cells = [head, *([f"{c:,}" if isinstance(c, int) else c for c in row] for row in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        lines = [f"One training step, batch of {self.batch_size:,}, forward and backward:"]
        for row in cells:
            parts = [
                c.ljust(w) if i < 2 else c.rjust(w)
                for i, (c, w) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(parts).rstrip())
        share = 100 * self.product_flops / self.flops if self.flops else 0
        lines.append(f"All: {self.flops:,} floating-point operations (FLOP), {share:.0f} % of them")
        lines.append(
            f"in products, and {self.bytes:,} bytes: {self.intensity:.3g} FLOP for each byte."
        )
        return "\n".join([*lines, *(f"  Note: {note}" for note in self.notes)])


def count_step(model, batch_size: int) -> StepWork:
    """Count the operations and bytes of one training step.

    Parameters
    ----------
    model : keras.Model
        Compiled, with all shapes known: Sequential with an Input, or functional.
    batch_size : int
        Examples in the step.

    Returns
    -------
    StepWork

    Raises
    ------
    TypeError
        If a layer has weights and no rule here, or if the model's layers are called by code of
        its own, which cannot be listed.
    ValueError
        If the model is not built or not compiled, or if a shape is open.

    Examples
    --------
    >>> from accel_helpers.train import training
    >>> step = count_step(training.quickstart_model(), batch_size=32)
    >>> step.product_flops, step.flops
    (13090816, 14247854)
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a whole number, 1 or more; got {batch_size!r}.")
    if not getattr(model, "compiled", False) or getattr(model, "optimizer", None) is None:
        raise ValueError(
            f"{getattr(model, 'name', model)!r} has no loss and no optimizer yet; call "
            "model.compile(optimizer, loss) first: they are part of a training step."
        )
    graph = _graph(model)
    for given in graph.inputs:
        if given.shape[0] not in (None, batch_size):
            raise ValueError(
                f"{model.name!r} is built for batches of {given.shape[0]}, not {batch_size}; "
                "give keras.Input no batch size, or count with that one."
            )
    notes: dict[str, None] = {}
    gradient = dict.fromkeys(map(id, graph.inputs), False)
    rows = tuple(_rows(model, batch_size, gradient, Counter(), Counter(), notes))
    loss = _loss(model, graph.outputs, batch_size, notes)
    update = _optimizer(model, notes)
    if any(getattr(weight, "regularizer", None) for weight in model.trainable_variables):
        notes["Regularisation of weights is not counted."] = None
    return StepWork(batch_size, rows, loss[0], *update, tuple(notes), loss[1])


# ---------------------------------------------------------------------------------------------


def _rows(model, batch, gradient, uses, seen, notes, prefix="") -> Iterator[LayerWork]:
    """A row for each use of a layer; `gradient` says which tensors need one, and learns more.

    `uses` counts how often a layer was used, `seen` how often a tensor.
    """
    import keras

    nodes = _graph(model)._nodes_by_depth
    for node in (node for depth in sorted(nodes, reverse=True) for node in nodes[depth]):
        if node.is_input:
            continue
        layer, tensors = node.operation, node.arguments.keras_tensors
        asked = [gradient[id(tensor)] for tensor in tensors]
        if isinstance(layer, keras.Model):  # a model in the model
            graph = _graph(layer)
            gradient.update(zip(map(id, graph.inputs), asked, strict=True))
            yield from _rows(
                layer, batch, gradient, uses, Counter(), notes, f"{prefix}{layer.name}/"
            )
            made = [gradient[id(tensor)] for tensor in graph.outputs]
            gradient.update(zip(map(id, node.outputs), made, strict=True))
            continue
        trained = sum(prod(v.shape) for v in getattr(layer, "trainable_variables", ()))
        gradient.update((id(tensor), bool(trained) or any(asked)) for tensor in node.outputs)
        ins = [_shape(tensor, batch, layer) for tensor in tensors]
        out = _shape(node.outputs[0], batch, layer)
        parts = parts_of(layer, ins, out, notes)
        # where a tensor goes two ways, or a layer is used twice, the gradients are added
        again = 0
        for tensor, shape, needs in zip(tensors, ins, asked, strict=True):
            again += prod(shape) if needs and seen[id(tensor)] else 0
            seen[id(tensor)] += 1
        uses[id(layer)] += 1
        number = uses[id(layer)]
        again += trained if number > 1 else 0
        yield LayerWork(
            f"{prefix}{layer.name}" + (f" (use {number})" if number > 1 else ""),
            type(layer).__name__,
            sum(prod(v.shape) for v in getattr(layer, "weights", ())) if number == 1 else 0,
            parts.first + parts.later + parts.inner + parts.forward,
            _backward(parts, trained, any(asked)) + again,
            _bytes(layer, parts, node, ins, out, trained, any(asked)),
            parts.first
            + parts.later
            + parts.inner
            + _backward(replace(parts, backward=0, sums=0), trained, any(asked)),
        )


def _graph(model):
    """The part of a model that knows how its layers are joined."""
    graph = getattr(model, "_functional", None) or model
    if hasattr(graph, "_nodes_by_depth"):
        return graph
    if type(model).__name__ == "Sequential":
        raise ValueError(
            f"{model.name!r} is not built, so its shapes are not known; begin it with "
            "keras.Input(shape), or call model.build((None, ...))."
        )
    raise TypeError(
        f"{getattr(model, 'name', model)!r} is a {type(model).__name__}, whose own code calls its "
        "layers, so they cannot be listed; count_step takes Sequential and functional models."
    )


def _shape(tensor, batch, layer):
    first, *rest = tensor.shape
    if None in rest:
        raise ValueError(
            f"a shape at layer {layer.name!r} is open: {tensor.shape}; give keras.Input all "
            "sizes but the batch."
        )
    return (batch if first is None else first, *rest)


def _backward(parts, trained, asked):
    """Operations on the way back: nothing where nothing is trained, here or before."""
    if not trained and not asked:
        return 0
    weights = (parts.first + parts.later + parts.sums) if trained else 0
    return weights + (parts.first if asked else 0) + parts.later + 2 * parts.inner + parts.backward


def _bytes(layer, parts, node, ins, out, trained, asked):
    """Bytes read and written, both passes: everything needed and everything made, once."""
    if parts.passes and not parts.forward:
        return 0
    size = _size(getattr(layer, "compute_dtype", node.outputs[0].dtype))
    tensors = node.arguments.keras_tensors
    given = sum(prod(s) * _size(t.dtype) for s, t in zip(ins, tensors, strict=True))
    made, inside = prod(out) * _size(node.outputs[0].dtype), parts.inside * size
    held = list(getattr(layer, "weights", ()))
    stored = _size(held[0].dtype) if held else 0
    read = sum(prod(v.shape) for v in held) if parts.read is None else parts.read
    total = given + read * stored + made + 2 * inside
    if parts.passes or not (trained or asked):
        return total
    total += made + given + 3 * inside + trained * stored  # gradient, what was kept, new gradient
    return total + (read * stored + given if asked else 0)


def _size(dtype):
    """Bytes of one number."""
    bits = re.search(r"\d+", str(dtype))
    return int(bits[0]) // 8 if bits else 1


def _loss(model, outputs, batch, notes):
    """Operations and bytes of the loss, both passes."""
    import keras

    losses = model.loss
    if isinstance(losses, dict):
        losses = [losses.get(name) for name in model.output_names]
    if not isinstance(losses, (list, tuple)):
        losses = [losses] * len(outputs)
    flops = moved = 0
    for output, loss in zip(outputs, losses, strict=True):
        if loss is None:
            continue
        loss = keras.losses.get(loss)
        logits = getattr(loss, "from_logits", False)
        name = name_of(loss)
        each = (LOSSES_ON_LOGITS if logits else LOSSES).get(name) or LOSSES.get(name)
        size = prod(_shape(output, batch, model))
        if each is None:
            notes[f"The loss {name} is not counted."] = None
            continue
        flops += sum(each) * size
        moved += 3 * size * _size(output.dtype)  # read on both ways, and its gradient
    return flops, moved


def _optimizer(model, notes):
    """Operations and bytes of the update of the weights."""
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    kind = type(optimizer).__name__
    if kind not in OPTIMIZERS:
        notes[f"The optimizer {kind} is not counted."] = None
        return 0, 0
    parts = [OPTIMIZERS[kind]]
    parts += [
        more
        for (owner, option), more in OPTIONS.items()
        if owner == kind and getattr(optimizer, option, False)
    ]
    parts += [WEIGHT_DECAY] if optimizer.weight_decay else []
    parts += [AVERAGE] if optimizer.use_ema else []
    if optimizer is not model.optimizer:
        notes["Scaling the loss and its gradients is not counted."] = None
    for option in ("clipnorm", "clipvalue", "global_clipnorm", "gradient_accumulation_steps"):
        if getattr(optimizer, option, None):
            notes[f"The optimizer's {option} is not counted."] = None
    flops, kept = (sum(column) for column in zip(*parts, strict=True))
    numbers = [(prod(v.shape), _size(v.dtype)) for v in model.trainable_variables]
    # the gradient is read; the weight and what is kept beside it are read and written
    moved = sum(count * size * (3 + 2 * kept) for count, size in numbers)
    return flops * sum(count for count, _ in numbers), moved
