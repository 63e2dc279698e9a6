"""Speechmatics' SDKs: files (speechmatics-batch) and real time (speechmatics-rt)."""

import io

from speechmatics import batch, rt

from .documented import documented
from .job import Final, Job


async def file(job: Job) -> str:
    audio = io.BytesIO(job.audio)
    audio.name = "speech.wav"
    config = batch.TranscriptionConfig(language="en", model=job.model)
    async with documented("speechmatics-batch", job).client as client:
        transcript = await client.transcribe(
            audio, transcription_config=config, format_type=batch.FormatType.TXT, min_polling_interval=0.05
        )
    return transcript.strip()


async def live(job: Job) -> list[Final]:
    finals: list[Final] = []
    errors: list[str] = []
    async with documented("speechmatics-batch", job).live as client:

        @client.on(rt.ServerMessageType.ADD_TRANSCRIPT)
        def on_final(message: dict) -> None:
            metadata = message["metadata"]
            finals.append({"text": metadata["transcript"].rstrip(), "end": metadata["end_time"]})

        @client.on(rt.ServerMessageType.ERROR)
        def on_error(message: dict) -> None:
            errors.append(f"{message['type']}: {message['reason']}")

        await client.start_session(
            transcription_config=rt.TranscriptionConfig(language="en", model=job.model, enable_partials=True),
            audio_format=rt.AudioFormat(encoding=rt.AudioEncoding.PCM_S16LE, sample_rate=job.sample_rate),
        )
        for chunk in job.chunks:
            await client.send_audio(chunk)
        await client.stop_session()
    if errors:
        raise RuntimeError(errors[0])
    return finals
