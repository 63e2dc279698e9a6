"""An event loop in a thread of its own, which is started when it is first needed and ends with the program."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

from ..errors import VoxgateError
from ..threads import daemon, submit

Value = TypeVar("Value")


class LoopThread:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopped = False

    def run(self, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """What the coroutine gives, in the caller's thread. An interrupt of the caller cancels it."""
        # Before the loop is told to stop, so that it is cancelled with the others.
        with self._lock:
            loop = self._started()
            future = submit(work(), loop)
        try:
            return future.result()
        except CancelledError as error:
            raise VoxgateError("The client was closed.", code="session_over") from error
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Cancels what runs, and ends the loop."""
        with self._lock:
            loop, self._loop, self._is_stopped = self._loop, None, True
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def __del__(self) -> None:
        self.stop()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._is_stopped:
            raise VoxgateError("The client was closed.", code="session_over")
        if self._loop is None:
            self._loop = loop = asyncio.new_event_loop()
            daemon(lambda: _serve(loop))
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        with suppress(Exception):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()
