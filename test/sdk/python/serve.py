"""Runs official Python clients for the test process: a JSON line per job on stdin, a JSON line per answer on stdout.

One process serves all jobs, so that each client is imported once.
"""

import asyncio
import base64
import importlib
import json
import os
import sys

from clients.job import Job

# Clients print; only answers may reach the pipe.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

# A job is one line with its audio in base64.
LINE_BYTES_MAX = 16 * 1024 * 1024


async def run(line: bytes) -> None:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        job = Job(
            url=request["url"],
            key=request["key"],
            model=request["model"],
            sample_rate=request.get("sample_rate", 0),
            last_word_seconds=request.get("last_word_seconds"),
            last_word=request.get("last_word", ""),
            audio=base64.b64decode(request["audio"]),
            chunk_bytes=request.get("chunk_bytes", 0),
        )
        # Some clients block while they are imported, never while they run.
        module = importlib.import_module(f"clients.{request['module']}")
        answer["result"] = await getattr(module, request["function"])(job)
    except BaseException as error:
        cause = f" ({error.__cause__})" if error.__cause__ else ""
        answer["error"] = f"{type(error).__name__}: {error}{cause}"
    answers.write(json.dumps(answer) + "\n")


async def main() -> None:
    reader = asyncio.StreamReader(limit=LINE_BYTES_MAX)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    while line := await reader.readline():
        task = asyncio.create_task(run(line))
        running.add(task)
        task.add_done_callback(running.discard)
    # The test process closed the pipe: it needs no more answers.
    os._exit(0)


asyncio.run(main())
