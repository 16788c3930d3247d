"""The processes of a run: sums over all of them, and messages resharded from workers to coordinates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kappaguard.rules.base.arrays import Array

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Group:
    """This process's number among all, and the device whose tensors they exchange: nccl takes no others."""

    rank: int
    size: int
    device: str = "cpu"

    def total(self, partial: Array) -> Array:
        """The sum over all processes, as the same kind of array in the same place."""
        import torch
        from torch import distributed

        if isinstance(partial, np.ndarray):
            tensor = torch.from_numpy(np.ascontiguousarray(partial)).clone().to(self.device)
            distributed.all_reduce(tensor)
            return tensor.cpu().numpy()
        tensor = partial.clone().to(self.device)
        distributed.all_reduce(tensor)
        return tensor.to(partial.device)

    def part(self, count: int, rank: int | None = None) -> range:
        """The part of 0 .. count that belongs to a process: contiguous, as even as can be."""
        own = self.rank if rank is None else rank
        return range(count * own // self.size, count * (own + 1) // self.size)

    def reshard(self, rows: Tensor, workers: int) -> Tensor:
        """From whole messages of some workers, (own, d), to some coordinates of all, (workers, d/size)."""
        import torch
        from torch import distributed

        d = rows.shape[1]
        width = len(self.part(d))
        pieces = [rows[:, slice_of(self.part(d, rank))].reshape(-1) for rank in range(self.size)]
        incoming = [len(self.part(workers, rank)) * width for rank in range(self.size)]
        received = torch.empty(sum(incoming), dtype=rows.dtype, device=rows.device)
        distributed.all_to_all_single(received, torch.cat(pieces), incoming, [len(piece) for piece in pieces])
        return received.view(workers, width)

    def gather(self, shard: Tensor, d: int) -> Tensor:
        """The whole vector from the shards of all processes."""
        import torch
        from torch import distributed

        widest = max(len(self.part(d, rank)) for rank in range(self.size))
        padded = torch.zeros(widest, dtype=shard.dtype, device=shard.device)
        padded[: len(shard)] = shard
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        distributed.all_gather(parts, padded)
        return torch.cat([part[: len(self.part(d, rank))] for rank, part in enumerate(parts)])

    def gather_columns(self, table: Tensor, widest: int) -> Tensor:
        """The columns of all processes side by side, each process's (k, s) filled up with zeros to the widest."""
        import torch
        from torch import distributed

        padded = torch.zeros((len(table), widest), dtype=table.dtype, device=table.device)
        padded[:, : table.shape[1]] = table
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        distributed.all_gather(parts, padded)
        return torch.cat(parts, dim=1)

    def agree(self, value: Any) -> Any:
        """The value that process 0 has, in every process."""
        from torch import distributed

        box = [value]
        distributed.broadcast_object_list(box)
        return box[0]


def slice_of(part: range) -> slice:
    """A range of workers as a slice of rows."""
    return slice(part.start, part.stop)


def launched() -> int:
    """How many processes torchrun started, this one among them; 0 if it did not."""
    size = os.environ.get("WORLD_SIZE", "")
    complete = size.isdecimal() and all(os.environ.get(name) for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"))
    return int(size) if complete and int(size) > 1 else 0


def local_rank() -> int:
    """This process's number among those of its machine, which torchrun says; 0 if it did not start any."""
    number = os.environ.get("LOCAL_RANK", "")
    return int(number) if launched() and number.isdecimal() else 0


def join(device: str) -> Group:
    """Meet the other processes: gloo on CPUs, nccl on GPUs, each process with the GPU ``device`` to itself."""
    import torch
    from torch import distributed

    on_gpu = device.partition(":")[0] == "cuda"
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if on_gpu else "gloo")
    return Group(distributed.get_rank(), distributed.get_world_size(), device if on_gpu else "cpu")


def leave() -> None:
    """Leave the group of processes."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()
