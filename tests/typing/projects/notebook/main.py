# %% [markdown]
# # Flowers
# %%
from __future__ import annotations

import copy
import pickle
import random
from typing import Any, overload

import torch
from torch import Tensor, nn

from notebook import model
from notebook.model import Flowers, Guess, Net, score
from qten_gen import Module, TensorClass, buffer, submodule

torch.manual_seed(0)
random.seed(0)

# %% look at the data
data = Flowers.sample(12)
print(data)
print(len(data), data.petals.mean().item() > 0, sorted(set(data.kind.tolist())))
train, test = data[:8].normal, data[8:].normal
print(train.batch_size, test.batch_size, {k: tuple(v.shape) for k, v in train.items() if isinstance(v, Tensor)})

# %% train
net = Net(hidden=16)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
losses = []
for _step in range(3):
    for batch in train.shuffled().split(4):
        guess = net(batch)
        loss = nn.functional.cross_entropy(guess.logits, batch.kind)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
print(len(losses), all(x > 0 for x in losses))

# %% evaluate
scores = score(net, test)
print(scores.guess.best.shape, 0 <= scores.accuracy <= 1)
wrong = test[net(test).best != test.kind]
print(len(wrong) <= 4)


# %% a variation of the batch, in the notebook itself
class Weighted(model.Flowers):
    weight: Tensor | None = None

    def heavy(self) -> Weighted:
        assert self.weight is not None
        return self[self.weight > 0.5]


heavy = Weighted(train.petals, train.kind, weight=torch.ones(8), batch_size=8)
print(net(heavy).logits.shape, heavy.heavy().batch_size)


# %% a second network, which wraps the first
class Ensemble(Module):
    count: int
    mean: Tensor = buffer(4, initializer=nn.init.zeros_)
    first: Net = submodule(Net, hidden="count * 4")

    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: Flowers) -> Guess: ...
    def forward(self, x: Tensor | Flowers) -> Tensor | Guess:
        return self.first(x - self.mean)


@Ensemble.register(Flowers)
def _(ensemble: Ensemble, flowers: Flowers) -> Guess:
    return Guess(ensemble(flowers.petals), batch_size=flowers.batch_size)


ensemble = Ensemble(count=2)
print(ensemble(test.petals).shape, ensemble(test).best.shape)


# %% the same handler once more, after a change
@Ensemble.register(Flowers, replace=True)
def _(ensemble: Ensemble, flowers: Flowers) -> Guess:
    return Guess(ensemble(flowers.petals).softmax(-1), batch_size=flowers.batch_size)


print(torch.allclose(ensemble(test).logits.sum(-1), torch.ones(4)))


# %% classes in a cell that is a function
def experiment(width: int) -> dict[str, Any]:
    class Sample(TensorClass):
        x: Tensor
        weight: Tensor

    class Tiny(Module):
        width: int
        line: nn.Linear = submodule(nn.Linear, "width", 1)

        def forward(self, sample: Sample) -> Sample:
            return sample.replace(x=self.line(sample.x))

    tiny = Tiny(width)
    out = tiny(Sample(torch.ones(2, width), torch.ones(2), batch_size=[2]))
    return {"shape": out.x.shape, "weight": out.weight.shape, "config": tiny.get_config()}


print(experiment(3), experiment(4)["shape"])

# %% save and load
again = pickle.loads(pickle.dumps(test))
print(type(again).__name__, isinstance(again, Flowers) and (again.petals == test.petals).all().item())
other = copy.deepcopy(net)
other.load_state_dict(net.state_dict())
print(torch.equal(other(test.petals), net(test.petals)), (net(test) == other(test)).all())
best = max((net, other), key=lambda one: score(one, test).accuracy)
print(best.hidden, best.scale.shape, [name for name, _ in best.named_parameters()][:1])
parts = {int(kind): data[data.kind == kind] for kind in sorted(set(data.kind.tolist()))}
print(sum(map(len, parts.values())), sorted(parts) == sorted(set(data.kind.tolist())))
named = data.replace(labels=[f"flower {at}" for at in range(len(data))])
print(named.labels[0].item() if named.labels is not None else None, named[3:5].labels)
