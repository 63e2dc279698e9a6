"""The speech-to-text plugins of LiveKit's agents."""

import asyncio
import io
import wave

from livekit import rtc
from livekit.agents import APIConnectOptions, stt
from livekit.agents.utils import http_context

from .documented import documented
from .job import Final, Job

ONCE = APIConnectOptions(max_retry=0, timeout=20)


async def live(package: str, job: Job, name: str = "stt", *, ends: str = "with silence") -> list[Final]:
    """The finals of a plugin.

    The last turn ends with the input, with silence, or with a flush as an agent's voice activity detection calls it: plugins
    differ in which of these they pass on.
    """
    async with http_context.open():
        recognizer = getattr(documented(package, job), name)
        stream = recognizer.stream(conn_options=ONCE)
        for chunk in job.chunks:
            push(stream, chunk, job.sample_rate)
        silence = None
        if ends == "with input":
            stream.end_input()
        elif ends == "with flush":
            stream.flush()
        else:
            silence = asyncio.create_task(push_silence(stream, job.sample_rate))
        finals: list[Final] = []
        try:
            async for event in stream:
                if event.type != stt.SpeechEventType.FINAL_TRANSCRIPT:
                    continue
                data = event.alternatives[0]
                # Silence is a part of the last turn where it ended that; the stream's own start is milliseconds.
                end = {"end": data.end_time - stream.start_time_offset} if ends == "with input" else {}
                finals.append({"text": data.text, **end})
                if job.last_word in data.text:
                    break
            return finals
        finally:
            if silence is not None:
                silence.cancel()
            await stream.aclose()
            await recognizer.aclose()


def push(stream: stt.SpeechStream, pcm: bytes, sample_rate: int) -> None:
    stream.push_frame(rtc.AudioFrame(pcm, sample_rate, 1, len(pcm) // 2))


async def push_silence(stream: stt.SpeechStream, sample_rate: int) -> None:
    """At the pace of speech."""
    while True:
        push(stream, bytes(2 * sample_rate // 10), sample_rate)
        await asyncio.sleep(0.1)


async def file(package: str, job: Job) -> str:
    with wave.open(io.BytesIO(job.audio)) as opened:
        rate, samples = opened.getframerate(), opened.getnframes()
        frame = rtc.AudioFrame(opened.readframes(samples), rate, 1, samples)
    async with http_context.open():
        recognizer = documented(package, job).files
        event = await recognizer.recognize([frame], conn_options=ONCE)
        await recognizer.aclose()
        return event.alternatives[0].text


async def inference(job: Job) -> list[Final]:
    return await live("livekit-agents", job, ends="with input")


async def deepgram(job: Job) -> list[Final]:
    return await live("livekit-plugins-deepgram", job, ends="with input")


async def flux(job: Job) -> list[Final]:
    return await live("livekit-plugins-deepgram", job, "flux", ends="with input")


async def openai(job: Job) -> list[Final]:
    return await live("livekit-plugins-openai", job)


async def openai_file(job: Job) -> str:
    return await file("livekit-plugins-openai", job)


async def assemblyai(job: Job) -> list[Final]:
    return await live("livekit-plugins-assemblyai", job, ends="with input")


async def elevenlabs(job: Job) -> list[Final]:
    return await live("livekit-plugins-elevenlabs", job, ends="with flush")


async def elevenlabs_file(job: Job) -> str:
    return await file("livekit-plugins-elevenlabs", job)


async def soniox(job: Job) -> list[Final]:
    return await live("livekit-plugins-soniox", job)


async def gladia(job: Job) -> list[Final]:
    return await live("livekit-plugins-gladia", job)
