"""AssemblyAI's SDK: files, and streaming v3."""

from assemblyai import AsyncTranscriber, TranscriptionConfig
from assemblyai.streaming.v3 import RealTimeEvents

from .documented import documented
from .job import Final, Job


async def file(job: Job) -> str:
    async with documented("assemblyai", job).client as client:
        client.settings.polling_interval = 0.05
        config = TranscriptionConfig(speech_models=[job.model])
        transcript = await AsyncTranscriber(client=client).transcribe(job.audio, config=config)
    if transcript.error:
        raise RuntimeError(transcript.error)
    return transcript.text


async def live(job: Job) -> list[Final]:
    documents = documented("assemblyai", job)
    client = documents.live
    finals: list[Final] = []
    errors: list[Exception] = []

    def on_turn(_, turn) -> None:
        if turn.end_of_turn:
            finals.append({"text": turn.transcript, "end": turn.words[-1].end / 1000 if turn.words else 0})

    client.on(RealTimeEvents.Turn, on_turn)
    client.on(RealTimeEvents.Error, lambda _, error: errors.append(error))
    await client.connect(documents.params)
    if not errors:
        await client.stream(job.chunks)
        await client.disconnect(terminate=True)
    if errors:
        raise errors[0]
    return finals
