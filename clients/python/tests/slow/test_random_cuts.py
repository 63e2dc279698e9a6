"""Hundreds of random cuts of the library's own connections: every sample in one final, one session each, the bill exact."""

import asyncio
import random
from typing import Any

import voxgate

from ..rig import RATE, Case, Cut, CuttingProxy, events_of, numbered, of

SESSIONS = 8
CUTS = 200
SECONDS = 30
PIECE_BYTES = 1_601


class RandomCuts(Case):
    async def test_lose_repeat_and_cost_nothing_across_many_sessions(self) -> None:
        dice = random.Random(3)
        proxy = await self.enterAsyncContext(CuttingProxy())
        proxy.cuts = [
            Cut(dice.choice((1006, 1012)), audio_bytes=dice.randint(1, 20_000), events=dice.randint(1, 20))
            for _ in range(CUTS + 5 * SESSIONS)
        ]
        audio = numbered(0, SECONDS * RATE)

        async def said() -> tuple[voxgate.SessionSummary, list[Any]]:
            options: Any = {"model": "loopback/numbered", "provider_params": {"turn_seconds": 0.5}}
            async with self.client(proxy.url).listen(**options) as session:
                reading = asyncio.ensure_future(events_of(session))
                for at in range(0, len(audio), PIECE_BYTES):
                    await session.send(audio[at : at + PIECE_BYTES])
                summary = await session.close()
                return summary, await reading

        for summary, events in await asyncio.gather(*(said() for _ in range(SESSIONS))):
            self.assert_one_session(events, SECONDS * RATE)
            self.assertEqual((len(summary.session_ids), summary.is_usage_complete), (1, True))
            self.assertEqual(summary.reason, "client_closed")
            self.assertEqual(sum(row.seconds for row in summary.usage), SECONDS)
            self.assertEqual({each.resumed for each in of(events, "reconnected")}, {True})
        self.assertGreaterEqual(proxy.made, CUTS)
