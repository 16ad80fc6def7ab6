"""The work of one training step: what `work.count_step` gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """The work of one layer in one step, of the loss, or of the optimizer."""

    name: str  # of the layer, or "loss" or "optimizer"
    kind: str  # the layer's class, such as "Dense"; "" for the loss and the optimizer
    parameters: int | str  # 0 where a layer is used again, "" for the loss and the optimizer
    flops: int  # operations; all counts are of both passes together, unless "forward" is said
    bytes: int  # read and written
    product_flops: int = 0  # the part that is matrix products and convolutions
    padding_flops: int = 0  # in no other number: products with the zeros of padding
    operations: int = 0  # forward, one after the other
    made: int = 0  # forward, numbers that products with weights make
    learns: bool = False  # training makes a gradient for its weights
    passes_back: bool = False  # training makes a gradient for its input
    frozen: bool = False  # it has weights, and is kept from learning


@dataclass(frozen=True)
class StepWork:
    """The work of one training step, or of one forward pass; each count is a sum over `rows`."""

    batch_size: int
    rows: tuple[Row, ...]  # the layers, the loss, the optimizer
    ahead: tuple[Row, ...]  # the layers in a forward pass alone
    notes: tuple[str, ...] = ()  # what was not counted

    @property
    def flops(self) -> int:
        return sum(row.flops for row in self.rows)

    @property
    def bytes(self) -> int:
        return sum(row.bytes for row in self.rows)

    @property
    def product_flops(self) -> int:
        return sum(row.product_flops for row in self.rows)

    @property
    def padding_flops(self) -> int:
        return sum(row.padding_flops for row in self.rows)

    @property
    def parameters(self) -> int:
        total = 0
        for row in self.rows:
            # The loss and the optimizer have "" there.
            if isinstance(row.parameters, int):
                total += row.parameters
        return total

    @property
    def operations(self) -> int:
        return sum(row.operations for row in self.rows)

    @property
    def made(self) -> int:
        return sum(row.made for row in self.rows)

    @property
    def forward(self) -> "StepWork":
        """The work of a forward pass alone."""
        return StepWork(self.batch_size, self.ahead, self.ahead)

    @property
    def backward(self) -> Row:
        """What training adds to a forward pass, in one row: gradients, loss, optimizer, dropout."""
        forward = self.forward
        flops = self.flops - forward.flops
        moved_bytes = self.bytes - forward.bytes
        product_flops = self.product_flops - forward.product_flops
        padding_flops = self.padding_flops - forward.padding_flops
        return Row("backward", "", "", flops, moved_bytes, product_flops, padding_flops)

    @property
    def intensity(self) -> float:
        """Operations for each byte (FLOP/B)."""
        return self.flops / self.bytes

    def __str__(self) -> str:
        head = f"One forward pass, batch of {self.batch_size:,}:"
        is_training = self.rows != self.ahead
        if is_training:
            head = f"One training step, batch of {self.batch_size:,}, forward and backward:"
        flops = self.flops
        share = 100 * self.product_flops / flops
        lines = [head]
        lines += _table(self.rows)
        lines.append(f"All: {flops:,} floating-point operations (FLOP), {share:.0f} % of them")
        lines.append(
            f"in products, and {self.bytes:,} bytes: {self.intensity:.3g} FLOP for each byte."
        )
        for note in self.notes:
            lines.append(f"  Note: {note}")
        return "\n".join(lines)


def _table(rows: tuple[Row, ...]) -> list[str]:
    """Return the lines of a table: a head and a line for each row, numbers to the right."""
    table = [["layer", "kind", "parameters", "operations", "bytes"]]
    for row in rows:
        table.append(_cells(row))
    widths = []
    for column in zip(*table, strict=True):
        widths.append(max(map(len, column)))
    lines = []
    for name, kind, *numbers in table:
        cells = [name.ljust(widths[0]), kind.ljust(widths[1])]
        for number, width in zip(numbers, widths[2:], strict=True):
            cells.append(number.rjust(width))
        lines.append("  ".join(cells))
    return lines


def _cells(row: Row) -> list[str]:
    """Return the texts of the five cells of a row in the table, such as "1,024" for a number."""
    parameters = row.parameters
    # The loss and the optimizer have "" there.
    if isinstance(parameters, int):
        parameters = f"{parameters:,}"
    return [row.name, row.kind, parameters, f"{row.flops:,}", f"{row.bytes:,}"]
