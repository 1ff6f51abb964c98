"""A module and a functional that dispatch on messages of another file."""

from __future__ import annotations

from torch import Tensor, nn

from inference.messages import Caption, Failure, Image, Reply, Text
from qten_gen import Functional, Module, submodule


class Server(Module):
    vocab: int
    dim: int
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    vision: nn.Linear = submodule(nn.Linear, 12, "dim")

    def forward(self, x: Tensor) -> Tensor:
        return x.softmax(-1)


class Render(Functional):
    """Text of a reply."""


@Server.register(Text)
def answer_text(server: Server, text: Text, *, temperature: float = 1.0) -> Reply:
    hidden: Tensor = server.embed(text.ids)
    return Reply(server(hidden.mean(-2) / temperature), "text", batch_size=text.batch_size)


@Server.register(Image)
def answer_image(server: Server, image: Image) -> Reply:
    hidden: Tensor = server.vision(image.flat())
    return Reply(server(hidden), "image", batch_size=image.batch_size)


@Server.register(Caption)
def answer_caption(server: Server, caption: Caption) -> Reply | Failure:
    if caption.prompt is None:
        return Failure("no prompt", batch_size=caption.batch_size)
    return answer_text(server, caption.prompt)


@Server.register(list)
def answer_many(server: Server, requests: list[Text]) -> list[Reply]:
    return [answer_text(server, request) for request in requests]


@Render.register(Reply)
def render_reply(render: Render, reply: Reply, *, digits: int = 1) -> str:
    return f"{reply.model} {reply.scores.sum().item():.{digits}f}"


@Render.register(Failure)
def render_failure(render: Render, failure: Failure) -> str:
    return f"failed: {failure.reason}"
