"""The pretend cluster of lesson 09: its compute and link times are known, and no device is used."""

import csv
import importlib.resources
from dataclasses import dataclass
from statistics import NormalDist

from accel_helpers._values import records


@dataclass(frozen=True)
class Cluster:
    """Devices in a ring that train copies of a model; each one's share of the batch stays as it is.

    A *device* (or chip) trains one copy. In a *step* each computes the gradient of its share; then
    an *all-reduce* gives all of them the mean, in *hops* from a device to the next one.

    * A hop takes latency + bytes / bandwidth (Thakur et al. 2005, doi 10.1177/1094342005051521); an
      all-reduce in a ring 2 (n - 1) hops of bytes / n. A ring can lead through servers with one
      link in and out of each (Patarasuk & Yuan 2009, doi 10.1016/j.jpdc.2008.09.002).
    * All wait for the slowest: the largest of n normal draws is expected where the distribution
      reaches (n - 3/8) / (n + 1/4), within 0.03 standard deviations (Blom 1958).
    * Cards of a kind differ by 8 % (Sinha et al. 2022, arXiv 2208.11035): read as the range of a
      box plot's whiskers, 5.4 standard deviations wide, that is a standard deviation of 1.5 %.
    * Links can work while other gradients are still computed (Li et al. 2020, arXiv 2006.15704);
      backward is about two thirds of the arithmetic (arXiv 2104.04473, appendix).
    """

    # Seconds that one device needs for its share.
    step: float
    # The number of the model's parameters; the gradient of each has 4 bytes.
    parameters: float
    # Bytes a second of the ring's slowest link.
    bandwidth: float
    # Seconds of a hop beside those of its bytes; by default of a ring over a network, as NCCL's
    # src/graph/tuning.cc has them.
    latency: float = 9.6e-6
    # The standard deviation of the devices' times for a share, over their mean.
    spread: float = 0.015
    # The share of a step, from 0 to 1, during which an all-reduce can go on unnoticed.
    overlap: float = 0.0

    def slowest(self, chips: int) -> float:
        """Return the seconds until the slowest of `chips` is expected to have its gradients."""
        # Where the largest of so many normal draws is expected (Blom).
        share_below = (chips - 0.375) / (chips + 0.25)
        deviations = NormalDist().inv_cdf(share_below)
        delay = self.spread * deviations
        return self.step * (1 + delay)

    def all_reduce(self, chips: int) -> float:
        """Return the seconds until all `chips` devices have the mean gradient; 0 for one device."""
        hops = 2 * (chips - 1)
        # In a ring each hop carries one device's part of the gradients, of 4 bytes each.
        bytes_of_a_hop = 4 * self.parameters / chips
        seconds_of_a_hop = self.latency + bytes_of_a_hop / self.bandwidth
        return hops * seconds_of_a_hop

    def seconds(self, chips: int) -> float:
        """Return the seconds of a step on `chips` devices.

        It lasts until the slowest has its gradients, and then as long as the all-reduce outlasts
        its overlap with the arithmetic.
        """
        hidden = self.overlap * self.step
        waiting = self.all_reduce(chips) - hidden
        return self.slowest(chips) + max(0.0, waiting)

    def speed_up(self, chips: int) -> float:
        """Return how many times as many examples `chips` devices do in a second as one does."""
        alone = chips * self.step
        return alone / self.seconds(chips)


@dataclass(frozen=True)
class Published:
    """A row of ``data/scaling.csv``: a real cluster, and the pretend one with its numbers."""

    name: str
    # A GPU, or a server of eight where those add up among themselves first.
    device: str
    devices: int
    # How many times as many examples as one device they did in a second, as measured.
    speed_up: float
    # The pretend one, with the numbers that the source gives; nothing is fitted.
    cluster: Cluster
    source: str
    notes: str

    def __str__(self) -> str:
        """Say what the chips did, and what the pretend ones would do, with how far that is off.

        "VGG-16, 25 Gbit/s RoCE  512 did the work of  348 (68%), ours  267 (-23%)" is one.
        """
        share = self.speed_up / self.devices
        measured = f"{self.devices:3} did the work of {self.speed_up:4.3g} ({share:.0%})"
        pretend = self.cluster.speed_up(self.devices)
        error = pretend / self.speed_up - 1
        return f"{self.name:<30} {measured}, ours {pretend:4.3g} ({error:+.0%})"


def published() -> tuple[Published, ...]:
    """Return the real clusters of ``data/scaling.csv``, one for every row, in its order.

    Raises records.DataError where a row does not have the fields of `Published`.
    """
    file = importlib.resources.files("accel_helpers") / "course" / "data" / "scaling.csv"
    text = file.read_text("utf-8")
    clusters = []
    for row in csv.DictReader(text.splitlines()):
        fields = _fields(row)
        cluster = records.read(Published, fields, row["name"])
        clusters.append(cluster)
    return tuple(clusters)


def _fields(row: dict[str, str]) -> dict:
    """Return the texts of a row as plain values for the fields of `Published`.

    The columns `rate_of_one` and `rate` are examples a second, of one device and of all of them;
    `batch` is the examples of one device's share.
    """
    rate_of_one = float(row["rate_of_one"])
    batch = float(row["batch"])
    rate = float(row["rate"])
    cluster = {name: float(row[name]) for name in ("parameters", "bandwidth", "latency")}
    cluster["step"] = batch / rate_of_one
    fields = {name: row[name] for name in ("name", "device", "source", "notes")}
    fields["devices"] = int(row["devices"])
    fields["speed_up"] = rate / rate_of_one
    fields["cluster"] = cluster
    return fields
