"""Many callers at once, as threads or as tasks, each with what it appends one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import grpc

from heptalog.replay.errors import HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import AsyncClient, Client
from heptalog.service.client.calls import Retries
from tests.service.asking import new_game
from tests.support.serving import WAIT_SECONDS

Outcome: TypeAlias = Receipt | HeptalogError
Calling: TypeAlias = Callable[..., list[list[Outcome]]]


def by_threads(
    target: str,
    work: Sequence[Sequence[Append]],
    *,
    joins: bool = True,
    attempts: int = 1,
    timeout: float = WAIT_SECONDS,
    pause: Callable[[float], None] | None = None,
) -> list[list[Outcome]]:
    """What came of each append of each caller, a thread for each.

    A pause takes no time here: it lasts until the channel is connected again, after what is done in it.
    """

    def pausing(seconds: float) -> None:
        if pause is not None:
            pause(seconds)
        grpc.channel_ready_future(client._channel).result(WAIT_SECONDS)

    retries = Retries(attempts=attempts)
    with (
        Client(target, timeout=timeout, retries=retries, pause=pausing, joins_appends=joins) as client,
        ThreadPoolExecutor(len(work)) as threads,
    ):

        def call(appends: Sequence[Append]) -> list[Outcome]:
            return [outcome(client, append) for append in appends]

        return list(threads.map(call, work, timeout=WAIT_SECONDS))


def by_tasks(
    target: str,
    work: Sequence[Sequence[Append]],
    *,
    joins: bool = True,
    attempts: int = 1,
    timeout: float = WAIT_SECONDS,
    pause: Callable[[float], None] | None = None,
) -> list[list[Outcome]]:
    """The same with a task for each."""

    async def call(client: AsyncClient, appends: Sequence[Append]) -> list[Outcome]:
        return [await async_outcome(client.append(append)) for append in appends]

    async def call_all() -> list[list[Outcome]]:
        async def pausing(seconds: float) -> None:
            if pause is not None:
                await asyncio.to_thread(pause, seconds)
            await client._channel.channel_ready()

        retries = Retries(attempts=attempts)
        client = AsyncClient(target, timeout=timeout, retries=retries, pause=pausing, joins_appends=joins)
        async with client:
            return await asyncio.gather(*(call(client, appends) for appends in work))

    return asyncio.run(call_all())


def outcome(client: Client, append: Append) -> Outcome:
    """The receipt of an append, or its error."""
    try:
        return client.append(append)
    except HeptalogError as error:
        return error


async def async_outcome(call: Awaitable[Receipt]) -> Outcome:
    """The same of one that is awaited."""
    try:
        return await call
    except HeptalogError as error:
        return error


def accompany(client: Client | AsyncClient) -> None:
    """Have a client share what it appends from now on, as if somebody else were at it all the time."""
    assert client._joined is not None
    client._joined._company.come(object(), 0.0)


def told(outcome: Outcome) -> tuple[Any, ...]:
    """All that a caller is told, but for what differs from one run to the next: positions and hashes."""
    if isinstance(outcome, Receipt):
        return ("receipt", outcome.game_id, outcome.head.sequence, outcome.sequences, outcome.is_deduplicated)
    facts = {name: fact for name, fact in outcome.facts.items() if name != "head_hash"}
    return (type(outcome), outcome.code, outcome.rule, facts)


def games(count: int, client: Client) -> list[str]:
    """So many games, made by this client."""
    names = [f"game-{number}" for number in range(count)]
    for name in names:
        new_game(client, name)
    return names
