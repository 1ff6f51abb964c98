"""Metrics over stacked results, in containers and through functions of the standard library."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, starmap

import torch

from evaluation.metrics import Accuracy, Spread
from evaluation.metrics_qten import Counts, Result, run


def make(seed: int) -> Result:
    generator = torch.Generator().manual_seed(seed)
    targets = torch.randint(3, (5,), generator=generator)
    return Result(targets.clone().fill_(1), targets, batch_size=5)


def group(results: list[Result]) -> dict[int, list[Result]]:
    groups: dict[int, list[Result]] = defaultdict(list)
    for result in results:
        for item in result:
            groups[int(item.targets.item())].append(item)
    return groups


def main() -> None:
    results = [make(seed) for seed in range(3)]
    print(run([Accuracy(), Spread()], results))
    print({label: Result.stack(items).correct.float().mean().item() for label, items in sorted(group(results).items())})
    counts = Counts.stack([Counts.of(result) for result in results])
    print(counts.sum(0).accuracy, counts.accuracy.shape, (counts + counts * 2).hits)
    print([a.merged(b).total.item() for a, b in pairwise(counts)])
    print([part.predictions.shape for part in Result.cat(results).chunk(2)])
    best = max(results, key=lambda result: result.correct.sum().item())
    worst = sorted(results, key=lambda result: Counts.of(result).accuracy.item())[0]
    print(best.batch_size, worst[worst.correct].targets)
    print(list(starmap(torch.Tensor.equal, [(r.targets, r.predictions) for r in results])))
    same = (best == best).predictions.all()
    print(same, sum(Counts.of(r).hits.item() for r in results))
    zipped = list(zip(results, map(Counts.of, results), strict=True))
    print(zipped[0][1].hits, zipped[0][0].targets.shape)
    flat = Result.cat([*results]).reshape(3, 5).permute(1, 0).gather(0, torch.zeros(1, 3, dtype=torch.long))
    print(flat.batch_size, flat.where(torch.ones(1, 3, dtype=torch.bool), flat).targets.shape)


main()
