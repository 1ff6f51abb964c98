"""A server that answers requests of several types, asynchronously."""

from __future__ import annotations

import asyncio
from typing import assert_never

import torch

from inference import messages
from inference import server as declared_server
from inference.messages_qten import Caption, Failure, Image, Reply, Text
from inference.server_qten import Render, Server

Message = Text | Image | Caption


async def handle(server: Server, message: Message) -> Reply | Failure:
    await asyncio.sleep(0)
    match message:
        case Text():
            return server(message, temperature=2.0)
        case Caption():
            return server(message)
        case Image():
            return server(message)
        case _:
            assert_never(message)


def describe(reply: messages.Reply | messages.Failure) -> str:
    match reply:
        case messages.Reply(scores=scores, model=model):
            return f"{model} {tuple(scores.shape)}"
        case messages.Failure(reason=reason):
            return reason
        case _:
            return "?"


async def serve(server: Server, queue: list[Message]) -> list[Reply | Failure]:
    return list(await asyncio.gather(*(handle(server, message) for message in queue)))


def main() -> None:
    server = Server(10, 4)
    text = Text("ada", torch.randint(10, (2, 3)), batch_size=2)
    image = Image(torch.rand(2, 3, 2, 2), batch_size=2)
    caption = Caption(torch.rand(2, 3, 2, 2), text, batch_size=2)
    replies = asyncio.run(serve(server, [text, image, caption]))
    render = Render()
    for reply in replies:
        print(describe(reply), render(reply))
    many = server([text, text])
    print([reply.best().shape for reply in many])
    print(server(torch.ones(3)).shape, server(image).best())
    plain = declared_server.Server(10, 4)
    print(describe(plain.invoke(text)))
    print(server.allows(text), server.invoke(image).model, Render().allows(3))
    with torch.no_grad():
        joined = Reply.cat([server(image), server(text)[:1]]) if server(image).model == server(text).model else None
    print(joined)
    handlers = [declared_server.answer_text(plain, text), declared_server.answer_image(server, image)]
    print([describe(one) for one in handlers])


main()
