"""An example for each group of the table: sessions, which `docs/operations.md` shows and its test runs.

`batch` is a `Batch` of batch size (2, 2), whose field `price` holds 1 to 4.
"""

from __future__ import annotations

EXAMPLES = {
    "Operators": """\
>>> (batch * 2 - batch).price
tensor([[1., 2.],
        [3., 4.]])
>>> (batch + torch.tensor([10.0, 20.0])).price
tensor([[11., 22.],
        [13., 24.]])
>>> batch += 1
>>> (batch == batch).all()
True
""",
    "Arithmetic": """\
>>> lifted(torch.add)(batch, batch, alpha=10).price
tensor([[11., 22.],
        [33., 44.]])
>>> lifted(torch.clamp)(batch, 2, 3).price
tensor([[2., 2.],
        [3., 3.]])
""",
    "Functions": """\
>>> lifted(torch.log1p)(batch).price
tensor([[0.6931, 1.0986],
        [1.3863, 1.6094]])
>>> lifted(torch.hypot)(batch, torch.tensor([0.0, 1.0])).price
tensor([[1.0000, 2.2361],
        [3.0000, 4.1231]])
""",
    "Activations": """\
>>> lifted(torch.nn.functional.hardtanh)(batch, 1.5, 3.5).price
tensor([[1.5000, 2.0000],
        [3.0000, 3.5000]])
""",
    "Comparing objects": """\
>>> lifted(torch.equal)(batch, batch.clone()), lifted(torch.allclose)(batch, batch + 1)
(True, False)
""",
    "Reductions": """\
>>> lifted(torch.sum)(batch, 0).price, lifted(torch.mean)(batch).price
(tensor([4., 6.]), tensor(2.5000))
>>> lifted(torch.sum)(batch, (0, 1), keepdim=True).batch_size
torch.Size([1, 1])
>>> lifted(torch.max)(batch, 1).indices.price
tensor([1, 1])
>>> (batch >= 0).all()
True
""",
    "Along a batch dimension": """\
>>> lifted(torch.cumsum)(batch, 0).price
tensor([[1., 2.],
        [4., 6.]])
>>> values, indices = lifted(torch.cummax)(batch, 1)
>>> indices.price
tensor([[0, 1],
        [0, 1]])
""",
    "Batch shape": """\
>>> batch.reshape(4).price
tensor([1., 2., 3., 4.])
>>> batch.flip(1).price
tensor([[2., 1.],
        [4., 3.]])
>>> batch.repeat_interleave(torch.tensor([1, 2]), dim=0).batch_size
torch.Size([3, 2])
>>> batch.pad((0, 1)).price
tensor([[1., 2.],
        [3., 4.],
        [0., 0.]])
""",
    "Put together and taken apart": """\
>>> Batch.stack([batch, batch]).batch_size
torch.Size([2, 2, 2])
>>> [part.batch_size for part in batch.split(1, dim=1)]
[torch.Size([2, 1]), torch.Size([2, 1])]
""",
    "Some of the items": """\
>>> batch.where(batch > 2, 0).price
tensor([[0., 0.],
        [3., 4.]])
>>> batch.masked_fill(torch.tensor([True, False]), 0).price
tensor([[0., 2.],
        [0., 4.]])
>>> batch.gather(1, torch.tensor([[1], [0]])).price
tensor([[2.],
        [3.]])
""",
    "New objects like another": """\
>>> batch.new_zeros(1).price, batch.new_full((1,), 5).price
(tensor([0.]), tensor([5.]))
>>> Batch.ones_like(batch).price
tensor([[1., 1.],
        [1., 1.]])
""",
    "Dtypes": """\
>>> batch.double().price.dtype, batch.int().double().price.dtype
(torch.float64, torch.int32)
>>> batch.bool().price
tensor([[True, True],
        [True, True]])
""",
    "Copies": """\
>>> batch.clone().price is batch.price
False
""",
}
"""By the title of the group."""
