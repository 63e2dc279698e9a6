"""The speech-to-text services of pipecat, each in a pipeline."""

import asyncio

from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from .documented import documented
from .job import Final, Job


class Collector(FrameProcessor):
    """Comes after the service and collects its transcripts."""

    def __init__(self, last_word: str) -> None:
        super().__init__()
        self.finals: list[Final] = []
        self.ended = asyncio.get_running_loop().create_future()
        self._last_word = last_word

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self.finals.append({"text": frame.text})
            if self._last_word in frame.text and not self.ended.done():
                self.ended.set_result(None)
        await self.push_frame(frame, direction)


async def live(package: str, job: Job, name: str = "stt") -> list[Final]:
    """The finals of a service in a call: speech, its end as voice activity detection reports it, and silence."""
    service = getattr(documented(package, job), name)
    collector = Collector(job.last_word)
    params = PipelineParams(audio_in_sample_rate=job.sample_rate)
    worker = PipelineWorker(Pipeline([service, collector]), params=params, cancel_on_idle_timeout=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def on_started(worker, frame) -> None:
        started.set()

    @worker.event_handler("on_pipeline_error")
    async def on_error(worker, frame: ErrorFrame) -> None:
        if not collector.ended.done():
            collector.ended.set_exception(RuntimeError(frame.error))

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await started.wait()
    await worker.queue_frame(VADUserStartedSpeakingFrame())
    for chunk in job.chunks:
        await worker.queue_frame(audio(chunk, job.sample_rate))
    await worker.queue_frame(VADUserStoppedSpeakingFrame())
    silence = asyncio.create_task(queue_silence(worker, job.sample_rate))
    try:
        await collector.ended
        return collector.finals
    finally:
        silence.cancel()
        await worker.cancel()
        await running


def audio(pcm: bytes, sample_rate: int) -> InputAudioRawFrame:
    return InputAudioRawFrame(audio=pcm, sample_rate=sample_rate, num_channels=1)


async def queue_silence(worker: PipelineWorker, sample_rate: int) -> None:
    """At the pace of speech."""
    while True:
        await worker.queue_frame(audio(bytes(2 * sample_rate // 10), sample_rate))
        await asyncio.sleep(0.1)


async def deepgram(job: Job) -> list[Final]:
    return await live("pipecat-ai[deepgram]", job)


async def flux(job: Job) -> list[Final]:
    return await live("pipecat-ai[deepgram]", job, "flux")


async def openai(job: Job) -> list[Final]:
    return await live("pipecat-ai[openai]", job)


async def assemblyai(job: Job) -> list[Final]:
    return await live("pipecat-ai[assemblyai]", job)


async def soniox(job: Job) -> list[Final]:
    return await live("pipecat-ai[soniox]", job)


async def gladia(job: Job) -> list[Final]:
    return await live("pipecat-ai[gladia]", job)
