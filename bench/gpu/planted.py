#!/usr/bin/env python3
"""One rank of a small job with a delay planted in turns: blocks of steps with 0, 2, 4, 8 ms on one rank.

The difference between the blocks is what the delay really costs, in one launch. Started by planted.sh, which compares it
with what `ringscope whatif` says about each block. RANK and WORLD_SIZE are in the environment; all ranks use the first GPU.
Writes OUT/blocks.json on rank 0: [delay in ms, wall time of the block's first and last ns].
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("shape", choices=["ddp", "tpdp", "pipeline"], help="tpdp: tensor parallel 2; pipeline: 2 stages")
parser.add_argument("out")
parser.add_argument("--late", type=int, default=0, help="the rank with the delay")
parser.add_argument("--delays", default="0,2,4,8", help="ms per step, in turns")
parser.add_argument("--blocks", type=int, default=10, help="of each delay")
parser.add_argument("--steps", type=int, default=15, help="of a block")
parser.add_argument("--host", action="store_true", help="the program sleeps, instead of its GPU being busy")
args = parser.parse_args()

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(0)
dist.init_process_group("nccl", rank=rank, world_size=world)
square = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
CYCLES_PER_MS = 1.7e6
LAYER_MS = 1.5


def busy(ms):
    torch.cuda._sleep(int(ms * CYCLES_PER_MS))  # one block that spins: the other ranks' kernels run beside it


def compute(ms):
    busy(ms)
    return square @ square


def delay(ms):
    if rank != args.late or not ms:
        return
    if args.host:
        time.sleep(ms * 1e-3)
    else:
        busy(ms)


def my_group(groups):
    made = [(ranks, dist.new_group(ranks)) for ranks in groups]
    return next(group for ranks, group in made if rank in ranks)


class Busy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        busy(LAYER_MS / 4)
        return x

    @staticmethod
    def backward(ctx, grad):
        busy(LAYER_MS / 2)
        return grad


def data_parallel():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(1024, 1024) for _ in range(8))

        def forward(self, x):
            for layer in self.layers:
                x = Busy.apply(layer(x))
            return x

    model = torch.nn.parallel.DistributedDataParallel(Net().cuda(), bucket_cap_mb=8)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    data = torch.randn(256, 1024, device="cuda")

    def step(ms):
        delay(ms)
        optimizer.zero_grad(set_to_none=True)
        model(data).sum().backward()
        optimizer.step()

    return step


def tensor_and_data_parallel():
    tensor = my_group([[i, i + 1] for i in range(0, world, 2)])
    data = my_group([list(range(i, world, 2)) for i in range(2)])
    activations = torch.randn(512, 1024, device="cuda")
    gradients = [torch.randn(2 << 20, device="cuda") for _ in range(4)]

    def step(ms):
        for layer in range(4):
            compute(LAYER_MS)
            if layer == 1:
                delay(ms)
            dist.all_reduce(activations, group=tensor)
        pending = []
        for gradient in gradients:
            compute(LAYER_MS / 2)
            pending.append(dist.all_reduce(gradient, group=data, async_op=True))
        for work in pending:
            work.wait()
        compute(.2)

    return step


def pipeline():
    stages = my_group([[i, i + 1] for i in range(0, world, 2)])
    data = my_group([list(range(i, world, 2)) for i in range(2)])
    first, peer = rank % 2 == 0, rank ^ 1
    activations, gradient = (torch.randn(256, 1024, device="cuda") for _ in range(2))
    weights = [torch.randn(1 << 20, device="cuda") for _ in range(2)]

    def step(ms):
        for micro_batch in range(4):
            if not first:
                dist.recv(activations, peer, group=stages)
            compute(LAYER_MS)
            if micro_batch == 1:
                delay(ms)
            if first:
                dist.send(activations, peer, group=stages)
        for _ in range(4):
            if first:
                dist.recv(gradient, peer, group=stages)
            compute(LAYER_MS * 1.5)
            if not first:
                dist.send(gradient, peer, group=stages)
        for weight in weights:
            dist.all_reduce(weight, group=data)
        compute(.2)

    return step


step = {"ddp": data_parallel, "tpdp": tensor_and_data_parallel, "pipeline": pipeline}[args.shape]()
flag = torch.zeros(1, device="cuda")


def meet():
    dist.all_reduce(flag)
    torch.cuda.synchronize()


for _ in range(3):
    step(0)
meet()
blocks, delays = [], [float(ms) for ms in args.delays.split(",")]
for turn in range(args.blocks):
    for ms in delays[:: 1 if turn % 2 == 0 else -1]:  # up and down: a slow drift cancels
        begin = time.time_ns()
        for _ in range(args.steps):
            step(ms)
        meet()
        blocks.append([ms, begin, time.time_ns()])
if rank == 0:
    with open(os.path.join(args.out, "blocks.json"), "w", encoding="utf-8") as file:
        json.dump({"shape": args.shape, "late": args.late, "steps": args.steps, "blocks": blocks}, file)
dist.destroy_process_group()
