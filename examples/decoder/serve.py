"""Write several texts at once: `python -m decoder.serve` in the folder `examples`, after `python -m decoder.train`."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram, export
from torch.nn import functional

from qten_gen import TensorClass

from . import text
from .model import Cache, Decoder

Step = Callable[[Tensor, Cache], Tensor]
"""The decoder, as it is, compiled or exported: logits for the next bytes of texts."""


class Requests(TensorClass):
    """Texts that are being written: their bytes, of shape `(*batch, context)`, of which the cache has read all but the last."""

    written: Tensor
    cache: Cache


def admitted(decoder: Decoder, prompt: str) -> Requests:
    """A request for the continuation of a prompt, which is read at once."""
    prompted = text.encode(prompt)[None]
    request = Requests(prompted.new_zeros(1, decoder.context), decoder.cache(1), batch_size=1)
    request.written[:, : prompted.shape[1]] = prompted
    decoder(prompted[:, :-1], request.cache)
    return request


def write(step: Step, requests: Requests) -> Tensor:
    """Write a byte of each text, and return which texts are complete."""
    text_number = torch.arange(len(requests))
    last = requests.written[text_number, requests.cache.length]
    logits = step(last[:, None], requests.cache)[:, -1]
    byte = functional.softmax(3 * logits, dim=-1).multinomial(1).squeeze(1)
    requests.written[text_number, requests.cache.length] = byte
    return (byte == ord(".")) | (requests.cache.length == requests.written.shape[1] - 1)


@torch.no_grad()
def serve(decoder: Decoder, step: Step, prompts: Sequence[str], at_once: int = 4) -> Iterator[str]:
    """Continue each prompt to the end of a sentence. Where a text is complete, the next prompt takes its place."""
    waiting = deque(prompts)
    requests = admitted(decoder, " ")[:0]
    while waiting or len(requests):
        free = min(at_once - len(requests), len(waiting))
        requests = Requests.cat([requests, *(admitted(decoder, waiting.popleft()) for _ in range(free))])
        complete = write(step, requests)
        for request in requests[complete]:
            yield text.decode(request.written[: request.cache.length + 1])
        requests = requests[~complete]


def exported(decoder: Decoder) -> ExportedProgram:
    """A step of the decoder as a program without Python, for any number of texts."""
    arguments = (torch.zeros(3, 1, dtype=torch.long), decoder.cache(3))
    texts = {0: Dim.DYNAMIC}
    shapes = {"tokens": texts, "cache": [[texts, texts], texts]}  # in the order of the fields
    return export(decoder, arguments, dynamic_shapes=shapes)


def main(file: Path = Path("decoder.pt"), backend: str | Callable[..., object] = "inductor") -> None:
    torch.manual_seed(0)
    saved = torch.load(file)
    decoder = Decoder.from_config(saved["config"]).requires_grad_(False)
    decoder.load_state_dict(saved["state"])
    compiled: Step = torch.compile(decoder, fullgraph=True, backend=backend)
    prompts = ["On Monday the wind", "The ferryman", "Anna", '"Is there', "In the evening", "Snow"]
    for number, written in enumerate(serve(decoder, compiled, prompts), start=1):
        print(f"{number}  {written}", flush=True)

    program = exported(decoder)
    torch.export.save(program, file.with_suffix(".pt2"))
    tokens = text.encode("On Tuesday")[:, None]
    assert torch.equal(program.module()(tokens, decoder.cache(10)), decoder(tokens, decoder.cache(10)))
    print(f"\nexported to {file.with_suffix('.pt2')}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
