"""Threads that end with the program: a function that never returns keeps nobody from leaving."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

Value = TypeVar("Value")


def submit(work: Coroutine[Any, Any, Value], loop: asyncio.AbstractEventLoop) -> Future[Value]:
    """Runs a coroutine in a loop of another thread. Raises a RuntimeError where that is closed."""
    try:
        return asyncio.run_coroutine_threadsafe(work, loop)
    except RuntimeError:
        work.close()
        raise


async def in_thread(work: Callable[[], Value]) -> Value:
    """What the function gives, while the event loop goes on. Who is cancelled does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Value] = loop.create_future()

    def tell(settle: Callable[[], None]) -> None:
        if not done.cancelled():
            settle()

    def run() -> None:
        settle: Callable[[], None]
        try:
            settle = partial(done.set_result, work())
        except StopIteration as error:
            # A future takes none.
            settle = partial(done.set_exception, RuntimeError(repr(error)))
        except BaseException as error:
            settle = partial(done.set_exception, error)
        # A loop that was closed meanwhile has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, settle)

    daemon(run)
    return await done


def daemon(work: Callable[[], None]) -> None:
    """Runs the function in a thread that keeps nobody from leaving."""
    threading.Thread(target=work, name="voxgate", daemon=True).start()
