"""ElevenLabs' SDK: files, and realtime speech to text."""

import asyncio
import base64

from elevenlabs import AudioFormat, CommitStrategy, RealtimeEvents

from .documented import documented
from .job import Final, Job


async def file(job: Job) -> str:
    client = documented("elevenlabs", job).client
    transcript = await client.speech_to_text.convert(model_id=job.model, file=job.audio)
    return transcript.text


async def live(job: Job) -> list[Final]:
    connection = await documented("elevenlabs", job).client.speech_to_text.realtime.connect(
        {
            "model_id": job.model,
            "audio_format": AudioFormat(f"pcm_{job.sample_rate}"),
            "sample_rate": job.sample_rate,
            "commit_strategy": CommitStrategy.MANUAL,
            "include_timestamps": True,
        }
    )
    finals: list[Final] = []
    ended = asyncio.get_running_loop().create_future()

    def on_final(data: dict) -> None:
        end = data["words"][-1]["end"] if data.get("words") else 0
        finals.append({"text": data["text"], "end": end})
        # The protocol has no farewell.
        if end >= job.last_word_end and not ended.done():
            ended.set_result(None)

    def on_error(data: dict) -> None:
        if not ended.done():
            ended.set_exception(RuntimeError(str(data)))

    connection.on(RealtimeEvents.COMMITTED_TRANSCRIPT_WITH_TIMESTAMPS, on_final)
    connection.on(RealtimeEvents.ERROR, on_error)
    connection.on(RealtimeEvents.CLOSE, on_error)
    try:
        for chunk in job.chunks:
            await connection.send({"audio_base_64": base64.b64encode(chunk).decode()})
        await connection.commit()
        await ended
        return finals
    finally:
        await connection.close()
