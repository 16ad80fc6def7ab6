"""The pretend cluster of lesson 09: its compute and link times are known, and no device is used."""

import csv
import importlib.resources
from dataclasses import dataclass
from statistics import NormalDist

from accel_helpers._values import records


@dataclass(frozen=True)
class Cluster:
    """Devices in a ring that train copies of a model; each one's share of the batch stays as it is.

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
    # Their number; the gradient of each has 4 bytes.
    parameters: float
    # Bytes a second of the ring's slowest link.
    bandwidth: float
    # Seconds a hop, by default of a ring over a network in NCCL's src/graph/tuning.cc.
    latency: float = 9.6e-6
    # Of the devices' times: standard deviation over mean.
    spread: float = 0.015
    # The share of a step behind which an all-reduce can hide.
    overlap: float = 0.0

    def slowest(self, chips: int) -> float:
        """Return the seconds until the slowest is expected to have its gradients."""
        # Where the largest of so many normal draws is expected (Blom).
        share_below = (chips - 0.375) / (chips + 0.25)
        deviations = NormalDist().inv_cdf(share_below)
        delay = self.spread * deviations
        return self.step * (1 + delay)

    def all_reduce(self, chips: int) -> float:
        """Return the seconds until everybody has the mean of all gradients."""
        hops = 2 * (chips - 1)
        # In a ring each hop carries one device's part of the gradients, of 4 bytes each.
        bytes_of_a_hop = 4 * self.parameters / chips
        seconds_of_a_hop = self.latency + bytes_of_a_hop / self.bandwidth
        return hops * seconds_of_a_hop

    def seconds(self, chips: int) -> float:
        """Return the seconds of a step: until the slowest is ready, and what else is not hidden."""
        # Only what outlasts the overlap is waited for.
        hidden = self.overlap * self.step
        waiting = self.all_reduce(chips) - hidden
        return self.slowest(chips) + max(0.0, waiting)

    def speed_up(self, chips: int) -> float:
        """Return how many times as many examples are done in a second as by one device."""
        alone = chips * self.step
        return alone / self.seconds(chips)


@dataclass(frozen=True)
class Published:
    """A row of ``data/scaling.csv``: a real cluster, and the pretend one with its numbers."""

    name: str
    # A GPU, or a server of eight where those add up among themselves first.
    device: str
    devices: int
    # Over one device, as measured.
    speed_up: float
    # With what the source says; nothing is fitted.
    cluster: Cluster
    source: str
    notes: str

    def __str__(self) -> str:
        """Say what the chips did, and what the pretend ones would do, with how far that is off."""
        share = self.speed_up / self.devices
        measured = f"{self.devices:3} did the work of {self.speed_up:4.3g} ({share:.0%})"
        pretend = self.cluster.speed_up(self.devices)
        error = pretend / self.speed_up - 1
        return f"{self.name:<30} {measured}, ours {pretend:4.3g} ({error:+.0%})"


def published() -> tuple[Published, ...]:
    """Return what others measured, a row for every number of devices."""
    file = importlib.resources.files("accel_helpers") / "course" / "data" / "scaling.csv"
    text = file.read_text("utf-8")
    clusters = []
    for row in csv.DictReader(text.splitlines()):
        fields = _fields(row)
        cluster = records.read(Published, fields, row["name"])
        clusters.append(cluster)
    return tuple(clusters)


def _fields(row: dict[str, str]) -> dict:
    """Return a row's texts as the fields of `Published`; rates are examples in a second."""
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
