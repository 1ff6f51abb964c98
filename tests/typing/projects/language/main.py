"""Trains, generates, saves, averages and compares."""

from __future__ import annotations

import itertools
from typing import assert_type

import torch
from torch import Tensor
from torch.func import functional_call

from language.checkpoints import Average, groups, load, save, sizes
from language.model import Config
from language.model_qten import Block, Cache, Decoder, State, Text


def stream(config: Config, count: int) -> list[Text]:
    return [Text(torch.randint(config.vocab, (2, 8)), batch_size=2) for _ in range(count)]


def step(model: Decoder, optimizer: torch.optim.Optimizer, text: Text) -> State:
    state = model(text)
    if state.loss is None:
        raise ValueError("no loss")
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(state.loss.mean())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return state.detach()


@torch.inference_mode()
def perplexity(model: Decoder, texts: list[Text]) -> float:
    losses = [state.loss for state in map(model, texts) if state.loss is not None]
    return torch.cat(losses).mean().exp().item()


def main() -> None:
    torch.manual_seed(0)
    config = Config()
    model = Decoder(config)
    optimizer = torch.optim.AdamW(groups(model, 0.1), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: min(1.0, (at + 1) / 3))
    average = Average(model)
    for text in itertools.islice(stream(config, 8), 3):
        state = step(model, optimizer, text)
        schedule.step()
        average.update()
        print(state.logits.shape, state.batch_size)
    assert_type(average.shadow, Decoder)
    print(perplexity(average.shadow, stream(config, 2)) > 1, sorted(dict(sizes(model))))

    prompt = Text(torch.tensor([[1, 2, 3]]), batch_size=1)
    longer = model.eval().generate(prompt, 4, temperature=0.8)
    assert_type(longer, Text)
    print(longer.tokens.shape, longer.tokens[:, :3].tolist())
    caches = model.caches(1)
    whole = model(prompt.tokens)
    parts = [model(token, caches) for token in torch.split(prompt.tokens, 1, dim=1)]
    print(torch.allclose(torch.cat(parts, 1), whole, atol=1e-5), [cache.time for cache in caches])
    first: Cache = caches[0]
    print(first.keys_seen.shape, Cache.stack(caches).batch_size)

    again, checkpoint = load(save(model, optimizer, 3))
    print(checkpoint["step"], torch.equal(again(prompt.tokens), whole), again.config == config)
    optimizer.load_state_dict(checkpoint["optimizer"])
    state_dict = model.state_dict()
    average.shadow.load_state_dict({name: value.clone() for name, value in state_dict.items()})
    parameters = {name: parameter.detach() * 2 for name, parameter in model.named_parameters()}
    doubled: Tensor = functional_call(model, parameters, (prompt.tokens,))
    print(doubled.shape, len(parameters), state_dict["embed.weight"].dtype)
    print({**dict(model.named_buffers()), **parameters}.keys() == parameters.keys())

    @torch.compile(backend="eager")
    def logits(tokens: Tensor) -> Tensor:
        return model(tokens)

    print(torch.allclose(logits(prompt.tokens), whole, atol=1e-5))
    block: Block = model.blocks[-1]
    print(block.attention.head_dim, block.attention.causal.shape, block.scale.requires_grad)
    for name, module in model.named_modules():
        if isinstance(module, Block):
            print(name, module.scale.mean().item() > 0)
    handle = model.register_forward_hook(lambda module, args, output: None)
    handle.remove()
    half = Decoder(config).to(torch.bfloat16)
    print(half.embed.weight.dtype, sum(p.numel() for p in half.parameters()), half.head is None)
    model.apply(lambda module: print(type(module).__name__, end=" "))
    model.blocks.append(Block(config))
    print(len(model.blocks), model.training, next(model.blocks[2].parameters()).shape)


main()
