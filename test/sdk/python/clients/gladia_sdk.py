"""Gladia's SDK: files, and live sessions."""

import asyncio
import io

from .documented import documented
from .job import Final, Job


async def file(job: Job) -> str:
    audio = io.BytesIO(job.audio)
    audio.name = "speech.wav"
    client = documented("gladiaio-sdk", job).client.prerecorded_async()
    response = await client.transcribe(audio, {"model": job.model}, interval=0.05)
    return response.result.transcription.full_transcript


async def live(job: Job) -> list[Final]:
    session = documented("gladiaio-sdk", job).client.live_async().start_session(
        {
            "encoding": "wav/pcm",
            "bit_depth": 16,
            "sample_rate": job.sample_rate,
            "channels": 1,
            "model": job.model,
            "messages_config": {"receive_partial_transcripts": True, "receive_acknowledgments": True},
        }
    )
    finals: list[Final] = []
    ended = asyncio.get_running_loop().create_future()

    def on_message(message) -> None:
        if message.type == "transcript" and message.data.is_final:
            finals.append({"text": message.data.utterance.text, "end": message.data.utterance.end})

    def on_ended(message) -> None:
        if not ended.done():
            ended.set_result(message)

    def on_error(error: Exception) -> None:
        if not ended.done():
            ended.set_exception(error)

    session.on("message", on_message)
    session.on("error", on_error)
    session.once("ended", on_ended)
    # The client forgets a stop that is requested before it is connected.
    connected = asyncio.Event()
    session.once("connected", lambda _: connected.set())
    await asyncio.wait([asyncio.create_task(connected.wait()), ended], return_when=asyncio.FIRST_COMPLETED)
    for chunk in job.chunks:
        session.send_audio(chunk)
    session.stop_recording()
    message = await ended
    if message.code != 1000:
        raise RuntimeError(f"{message.code} {message.reason}")
    return finals
