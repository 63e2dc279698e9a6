"""Soniox' SDK: files, and real time."""

from soniox.types import RealtimeSTTConfig

from .documented import documented
from .job import Final, Job


async def file(job: Job) -> str:
    client = documented("soniox", job).client
    transcript = await client.stt.transcribe_and_wait_with_tokens(
        model=job.model, file=job.audio, filename="speech.wav", wait_interval_sec=0.05
    )
    await client.aclose()
    return transcript.text


async def live(job: Job) -> list[Final]:
    config = RealtimeSTTConfig(
        model=job.model,
        audio_format="pcm_s16le",
        sample_rate=job.sample_rate,
        num_channels=1,
        enable_endpoint_detection=True,
    )
    finals: list[Final] = []
    async with documented("soniox", job).client.realtime.stt.connect(config=config) as session:
        for chunk in job.chunks:
            await session.send_byte_chunk(chunk)
        await session.finish()
        async for event in session.receive_events():
            if event.error_code:
                raise RuntimeError(f"{event.error_code}: {event.error_message}")
            tokens = [token for token in event.tokens if token.is_final and token.text not in ("<end>", "<fin>")]
            if tokens:
                text = "".join(token.text for token in tokens).strip()
                finals.append({"text": text, "end": tokens[-1].end_ms / 1000})
    return finals
