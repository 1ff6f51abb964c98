"""What each call gives is what the checkers say."""

from typing import assert_type

import torch
from torch import Tensor, nn

from dispatching.net import Gate
from dispatching.net_qten import Encoder, Item, Name, Net, Part


def main() -> None:
    net, name, encoder = Net(), Name(), Encoder()
    item, part = Item(torch.ones(2)), Part(torch.ones(2))
    assert type(assert_type(net({"a": 1}), str)) is str
    assert type(assert_type(net(3.5), range)) is range
    assert type(assert_type(net(3), list[int])) is list
    assert type(assert_type(net(True), float)) is float
    assert type(assert_type(net(item), complex)) is complex
    assert type(assert_type(net(part), complex)) is complex
    assert type(assert_type(net(Gate()), set[int])) is set
    assert type(assert_type(net(nn.Parameter(torch.ones(2))), tuple[int])) is tuple
    assert type(assert_type(net(range(2)), frozenset[int])) is frozenset
    assert type(assert_type(net([1]), type)) is type
    assert type(assert_type(net((1,)), type)) is type
    assert type(assert_type(net(torch.ones(1)), int)) is int
    assert type(assert_type(net(None), int)) is int
    assert type(assert_type(name(item), str)) is str
    assert type(assert_type(name(part), bytes)) is bytes
    assert type(assert_type(name(3), int)) is int
    tensor: Tensor = encoder(item)
    encoded, count = encoder(part)
    print(tensor.shape, encoded.shape, count)


main()
