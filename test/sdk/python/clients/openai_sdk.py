"""OpenAI's SDK: files, and transcription sessions of its Realtime API."""

import base64

from .documented import documented
from .job import Final, Job

COMPLETED = "conversation.item.input_audio_transcription.completed"
COMMITTED = "input_audio_buffer.committed"


async def file(job: Job) -> str:
    client = documented("openai", job).client
    transcription = await client.audio.transcriptions.create(file=("speech.wav", job.audio), model=job.model)
    return transcription.text


async def live(job: Job) -> list[Final]:
    return await transcribed(job, None)


async def live_with_turn_detection(job: Job) -> list[Final]:
    return await transcribed(job, {"type": "server_vad"})


async def transcribed(job: Job, turn_detection: object) -> list[Final]:
    connect = documented("openai", job).client.realtime.connect
    audio_input = {
        "format": {"type": "audio/pcm", "rate": job.sample_rate},
        "transcription": {"model": job.model},
        "turn_detection": turn_detection,
    }
    finals: list[Final] = []
    async with connect(extra_query={"intent": "transcription", "sample_rate": str(job.sample_rate)}) as connection:
        await connection.session.update(session={"type": "transcription", "audio": {"input": audio_input}})
        committed = 0
        seconds = 0.0
        is_sent = False
        async for event in connection:
            if event.type == "session.updated" and not is_sent:
                for chunk in job.chunks:
                    await connection.input_audio_buffer.append(audio=base64.b64encode(chunk).decode())
                await connection.input_audio_buffer.commit()
                is_sent = True
            elif event.type == COMMITTED:
                committed += 1
            elif event.type == COMPLETED:
                finals.append({"text": event.transcript})
                seconds += event.usage.seconds
            elif event.type == "error":
                raise RuntimeError(event.error.message)
            if seconds >= job.last_word_end and len(finals) == committed:
                return finals
    raise RuntimeError("The connection ended before the transcripts came.")
