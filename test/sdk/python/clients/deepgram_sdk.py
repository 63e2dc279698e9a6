"""Deepgram's SDK: files, listen v1 (Nova) and listen v2 (Flux)."""

from .documented import documented
from .job import Final, Job


async def file(job: Job) -> str:
    client = documented("deepgram-sdk", job).client
    response = await client.listen.v1.media.transcribe_file(request=job.audio, model=job.model)
    return response.results.channels[0].alternatives[0].transcript


async def nova(job: Job) -> list[Final]:
    listen = documented("deepgram-sdk", job).client.listen.v1.connect(
        model=job.model, encoding="linear16", sample_rate=job.sample_rate, interim_results=True
    )
    async with listen as connection:
        for chunk in job.chunks:
            await connection.send_media(chunk)
        await connection.send_close_stream()
        return [
            {"text": message.channel.alternatives[0].transcript, "end": message.start + message.duration}
            async for message in connection
            if message.type == "Results" and message.is_final
        ]


async def flux(job: Job) -> list[Final]:
    listen = documented("deepgram-sdk", job).client.listen.v2.connect(model=job.model, encoding="linear16", sample_rate=job.sample_rate)
    async with listen as connection:
        for chunk in job.chunks:
            await connection.send_media(chunk)
        await connection.send_close_stream()
        return [
            {"text": message.transcript, "end": message.audio_window_end}
            async for message in connection
            if message.type == "TurnInfo" and message.event == "EndOfTurn"
        ]
