"""``distributed`` in a world of one process, beside PyTorch's gloo."""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from contextlib import contextmanager

from parity.harness import behaviour, behaviour_of_each


@contextmanager
def world(torch):
    """A world that was made by way of a file."""
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/met", rank=0,
                                             world_size=1)
        try:
            yield torch.distributed
        finally:
            torch.distributed.destroy_process_group()


QUESTIONS = ("get_rank", "get_world_size", "get_backend", "barrier", "new_group",
             "destroy_process_group", "is_initialized", "is_available", "is_gloo_available",
             "is_nccl_available", "is_mpi_available", "is_torchelastic_launched",
             "get_node_local_rank", "init_process_group", "monitored_barrier")


@behaviour_of_each(QUESTIONS)
def without_a_world(torch, log, name):
    log.raises(getattr(torch.distributed, name))


@behaviour
def collectives_need_a_world(torch, log):
    dist, x = torch.distributed, torch.ones(2)
    for call in (lambda: dist.all_reduce(x), lambda: dist.broadcast(x, 0),
                 lambda: dist.all_gather([x], x), lambda: dist.reduce(x, 0),
                 lambda: dist.gather(x, [x]), lambda: dist.scatter(x, [x]),
                 lambda: dist.all_gather_object([None], 1)):
        log.raises(call)
    log.raises(dist.all_reduce, [1])  # what is wrong with an argument is said first


@behaviour
def one_process_is_rank_zero_of_one(torch, log):
    with world(torch) as dist:
        log(dist.is_initialized(), dist.get_rank(), dist.get_world_size(), dist.get_backend())
        group = dist.new_group([0])
        log(dist.get_rank(group), dist.get_world_size(group), dist.get_process_group_ranks(group),
            group.rank(), group.size(), dist.get_group_rank(group, 0),
            dist.get_world_size(dist.group.WORLD), dist.GroupMember.WORLD is dist.group.WORLD)
        log.raises(dist.init_process_group, "gloo")
        log.raises(dist.new_group, [0, 1])
        log(dist.barrier(), dist.barrier(async_op=True).wait())
    log(dist.is_initialized(), dist.group.WORLD)


@behaviour
def collectives_keep_or_copy(torch, log):
    x = torch.arange(4.0)
    with world(torch) as dist:
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.MAX):
            log(dist.all_reduce(x, op), x, str(op))
        log(dist.reduce(x, 0), dist.broadcast(x, 0), x, dist.all_reduce(x, async_op=True).wait())
        for gather in (lambda out: dist.all_gather([out], x), lambda out: dist.gather(x, [out]),
                       lambda out: dist.scatter(out, [x]), lambda out: dist.all_to_all([out], [x]),
                       lambda out: dist.all_to_all_single(out, x),
                       lambda out: dist.all_gather_single(out, x),
                       lambda out: dist.reduce_scatter(out, [x]),
                       lambda out: dist.reduce_scatter_single(out, x)):
            out = torch.zeros(4)
            log(gather(out), out)
        log.warns(dist.all_gather_into_tensor, torch.zeros(4), x)


@behaviour
def objects(torch, log):
    with world(torch) as dist:
        found, value = [None], {"a": [1]}
        dist.all_gather_object(found, value)
        log(found, found[0] is value)
        dist.gather_object(value, found)
        log(found)
        dist.scatter_object_list(found, [7])
        log(found)
        dist.broadcast_object_list([value], src=0)


@behaviour
def what_is_refused(torch, log):
    x = torch.arange(4.0)
    with world(torch) as dist:
        log.raises(dist.all_reduce, torch.ones(1, dtype=torch.complex64), dist.ReduceOp.MAX)
        log.raises(dist.broadcast, x, src=1)
        log.raises(dist.broadcast, x)
        log.raises(dist.all_gather, [x, x], x)
        log.raises(dist.all_gather, [torch.ones(3)], x)
        log.raises(dist.gather, x)
        log.raises(dist.scatter, x)
        log.refuses(dist.all_gather, x, x)


@behaviour_of_each([
    ("nothing said", {}, {}),
    ("no size", {"RANK": "0"}, {}),
    ("no address", {}, {"rank": 0, "world_size": 1}),
    ("no port", {"MASTER_ADDR": "127.0.0.1"}, {"rank": 0, "world_size": 1}),
    ("no rank", {}, {"init_method": "tcp://127.0.0.1:29511"}),
    ("an unknown way", {}, {"init_method": "carrier://pigeon", "rank": 0, "world_size": 1}),
])
def ways_of_meeting_that_lead_nowhere(torch, log, name, environment, options):
    os.environ.update(environment)
    try:
        log.raises(torch.distributed.init_process_group, "gloo", **options)
    finally:
        for key in environment:
            del os.environ[key]


@behaviour
def collectives_with_a_gradient(torch, log):
    x = torch.arange(4.0, requires_grad=True)
    with world(torch) as dist:
        ways = importlib.import_module(f"{dist.__name__}.nn.functional")
        for result in (ways.all_reduce(x), ways.broadcast(x, 0), ways.all_gather(x)[0],
                       ways.reduce(x, 0), ways.gather(x)[0], ways.scatter([x]),
                       ways.reduce_scatter(torch.empty(4), [x]),
                       ways.all_to_all([torch.empty(4)], [x])[0],
                       ways.all_to_all_single(torch.empty(4), x)):
            log.values(result, *torch.autograd.grad(result.square().sum(), x))


@behaviour
def an_optimizer_that_has_all_of_its_parts(torch, log):
    weight = torch.nn.Parameter(torch.arange(3.0))
    with world(torch) as dist:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an interface that the import declares
            optim = importlib.import_module(f"{dist.__name__}.optim")
        sharing = optim.ZeroRedundancyOptimizer([weight], torch.optim.Adam, lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(sharing, 1)
        for _ in range(3):
            sharing.zero_grad()
            weight.square().sum().backward()
            sharing.step()
            schedule.step()
        sharing.consolidate_state_dict()
        state = sharing.state_dict()
        log(weight, state["param_groups"][0]["lr"], sorted(state["state"][0]))


@behaviour
def placements_and_meshes(torch, log):
    with world(torch) as dist:
        placed = importlib.import_module(f"{dist.__name__}.tensor")
        for where in (placed.Shard(1), placed.Replicate(), placed.Partial(), placed.Partial("avg")):
            log(repr(where), where.is_shard(), where.is_shard(0), where.is_shard(1),
                where.is_replicate(), where.is_partial(), where == placed.Shard(1))
        meshes = importlib.import_module(f"{dist.__name__}.device_mesh")
        mesh = meshes.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "b"))
        log(mesh.shape, mesh.ndim, mesh.size(), mesh.size(1), mesh.mesh_dim_names,
            mesh.get_local_rank("b"), mesh["b"].shape, mesh["a", "b"].ndim)
        log(isinstance(torch.ones(2), placed.DTensor))
