#!/usr/bin/env python3
"""A small data-parallel training with PyTorch: a few transformer blocks, random data, gradients averaged over NCCL.

Started once per rank by torchrun or anything else that sets RANK and WORLD_SIZE. Nothing here knows of a profiler
plugin: NCCL loads the one that NCCL_PROFILER_PLUGIN names.
"""
import argparse
import os
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=15)
parser.add_argument("--one-gpu", action="store_true", help="all ranks on the first GPU (see README.md)")
parser.add_argument("--halves", action="store_true", help="also two process groups of half the ranks each")
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--slow", metavar="RANK:USEC", help="that rank sleeps before each step")
parser.add_argument("--ring", action="store_true", help="also a send and a receive of each rank in every step")
parser.add_argument("--profile", metavar="DIR", help="write a Kineto trace of each rank to DIR")
parser.add_argument("--profile-steps", metavar="FIRST:COUNT", help="of these steps only (all)")
parser.add_argument("--flight", metavar="DIR", help="write the Flight Recorder's dump of each rank to DIR at the end")
args = parser.parse_args()

rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29500")
if args.one_gpu:
    # NCCL refuses two ranks on one device of a host, so each is a host of its own. Must be set before NCCL starts.
    for name, value in {"NCCL_HOSTID": str(rank), "NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1",
                        "NCCL_SOCKET_IFNAME": "lo", "NCCL_MNNVL_ENABLE": "0", "NCCL_NVLS_ENABLE": "0",
                        "NCCL_MAX_NCHANNELS": "2"}.items():
        os.environ.setdefault(name, value)

import torch  # noqa: E402 (after the environment)
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402
from torch.profiler import record_function  # noqa: E402


def ring_of_sends(device):
    out, back = torch.full((4096,), float(rank), device=device), torch.empty(4096, device=device)
    sends = dist.batch_isend_irecv([dist.P2POp(dist.isend, out, (rank + 1) % world),
                                    dist.P2POp(dist.irecv, back, (rank - 1) % world)])
    for work in sends:
        work.wait()


def train(device, model, group, slow_us, on_step):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss = torch.zeros((), device=device)
    for step in range(args.steps):
        with torch.cuda.nvtx.range(f"step {step}"):  # what profilers show as a step; costs nothing without one
            if slow_us:
                time.sleep(slow_us * 1e-6)
            with record_function("forward"):
                x = torch.randn(8, 32, args.width, device=device)
                loss = (model(x) - x.roll(1, dims=1)).square().mean()
            with record_function("backward"):
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
            with record_function("optimizer"):
                optimizer.step()
            if args.ring:
                ring_of_sends(device)
            mean = loss.detach().clone()
            dist.all_reduce(mean, op=dist.ReduceOp.SUM, group=group)
        on_step(step)
    torch.cuda.synchronize()
    return loss.item()


def main():
    index = 0 if args.one_gpu else int(os.environ.get("LOCAL_RANK", rank)) % torch.cuda.device_count()
    device = torch.device("cuda", index)
    torch.cuda.set_device(device)
    torch.manual_seed(rank)  # other data on each rank; DDP makes the weights equal
    # With device_id the communicator is made now, and groups are split from it.
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=device)
    group = None
    if args.halves and world > 1:
        half = (world + 1) // 2
        lower, upper = dist.new_group(list(range(half))), dist.new_group(list(range(half, world)))
        group = lower if rank < half else upper

    block = torch.nn.TransformerEncoderLayer(args.width, 4, 4 * args.width, dropout=0.0, batch_first=True)
    net = torch.nn.TransformerEncoder(block, args.layers, enable_nested_tensor=False).to(device)
    # Small buckets: several all-reduces a step, as in large models.
    model = DistributedDataParallel(net, device_ids=[index], bucket_cap_mb=1)

    slow_rank, slow_us = (int(part) for part in (args.slow or "-1:0").split(":"))
    slow_us = slow_us if rank == slow_rank else 0
    start = time.perf_counter()
    if args.profile:
        os.makedirs(args.profile, exist_ok=True)
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        schedule = None
        if args.profile_steps:
            first, count = (int(part) for part in args.profile_steps.split(":"))
            schedule = torch.profiler.schedule(wait=max(first - 1, 0), warmup=min(first, 1), active=count, repeat=1)
        path = os.path.join(args.profile, f"rank{rank}.json.gz")
        with torch.profiler.profile(activities=kinds, schedule=schedule,
                                    on_trace_ready=lambda p: p.export_chrome_trace(path)) as profiler:
            loss = train(device, model, group, slow_us, lambda step: profiler.step())
    else:
        loss = train(device, model, group, slow_us, lambda step: None)
    seconds = time.perf_counter() - start

    # Equal weights on all ranks, or the gradients were not averaged.
    mine = torch.stack([p.detach().double().abs().sum() for p in net.parameters()])
    low, high = mine.clone(), mine.clone()
    dist.all_reduce(low, op=dist.ReduceOp.MIN)
    dist.all_reduce(high, op=dist.ReduceOp.MAX)
    equal = bool(torch.allclose(low, high, rtol=1e-9, atol=0)) and bool(torch.isfinite(mine).all())
    if rank == 0:
        nccl = ".".join(str(n) for n in torch.cuda.nccl.version())
        print(f"ddp: torch {torch.__version__}, NCCL {nccl}, {world} ranks, {args.steps} steps in {seconds:.2f} s, "
              f"loss {loss:.3f}, weights {'equal on all ranks' if equal else 'DIFFER between ranks'}", flush=True)
    if args.flight:
        os.makedirs(args.flight, exist_ok=True)
        with open(os.path.join(args.flight, f"nccl_trace_rank_{rank}"), "wb") as dump:
            dump.write(torch._C._distributed_c10d._dump_nccl_trace())
    dist.destroy_process_group()
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
