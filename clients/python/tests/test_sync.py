"""The client without asyncio: every call waits, and any thread may call."""

import threading
import wave
from typing import Any

import voxgate

from .rig import AUDIO, KEY, NUMBERED, URL, Case, numbered


class Sync(Case):
    """Not a coroutine anywhere: the cases are plain functions."""

    def sync(self, **options: Any) -> voxgate.Voxgate:
        return self.enterContext(voxgate.Voxgate(**{"api_key": KEY, "base_url": URL, **options}))

    def test_answers_every_call_like_the_asyncio_client(self) -> None:
        client = self.sync()
        path = AUDIO / "yes.wav"
        self.assertEqual(client.transcribe(path, model="local/commands-en").text, "yes")
        verbose = client.transcribe(path, model="local/commands-en", response_format="verbose_json")
        self.assertEqual([word.word for word in verbose.words or ()], ["yes"])
        self.assertEqual(client.transcribe(path, model="local/commands-en", response_format="text").strip(), "yes")
        self.assertIn("local/commands-en", [model.id for model in client.models.list(provider="local")])
        self.assertEqual(client.models.retrieve("local/commands-en").object, "model")
        self.assertEqual(client.tokens.create(ttl_seconds=10).ttl_seconds, 10)
        self.assertEqual(client.usage(group_by="day").group_by, "day")
        self.assertEqual(client.balance().currency, "USD")
        with self.assertRaises(voxgate.NotFoundError):
            client.models.retrieve("local/nobody")

    def test_transcribes_a_piped_file(self) -> None:
        with wave.open(str(AUDIO / "yes.wav")) as file:
            options: Any = {"model": "local/commands-en", "sample_rate": file.getframerate()}
            with self.sync().listen(**options) as session:
                session.pipe(iter(lambda: file.readframes(1_600), b""))
                self.assertEqual([final.text for final in session.finals()], ["yes"])
                self.assertEqual(session.close().reason, "client_closed")

    def test_sends_in_one_thread_and_reads_in_another(self) -> None:
        with self.sync().listen(**NUMBERED) as session:

            def send() -> None:
                for at in range(0, 24_000, 1_600):
                    session.send(numbered(at, at + 1_600))
                session.finalize()
                session.keepalive()
                session.close()

            sender = threading.Thread(target=send)
            sender.start()
            events = list(session)
            sender.join()
        self.assert_one_session(events, 24_000)

    def test_raises_the_sessions_failure_from_every_call(self) -> None:
        with self.sync().listen(model="local/nobody") as session:
            with self.assertRaises(voxgate.NotFoundError) as raised:
                list(session)
            for call in (lambda: session.send(b"12"), session.close, session.finalize, session.configure):
                with self.assertRaises(voxgate.NotFoundError) as again:
                    call()
                self.assertIs(again.exception, raised.exception)

    def test_ends_the_session_with_the_error_of_its_source(self) -> None:
        def broken() -> Any:
            yield numbered(0, 10)
            raise OSError("unplugged")

        with self.sync().listen(**NUMBERED) as session:
            session.pipe(broken())
            with self.assertRaisesRegex(OSError, "unplugged"):
                list(session)

    def test_ends_the_iteration_of_a_terminated_session(self) -> None:
        with self.sync().listen(**NUMBERED) as session:
            for event in session:
                if event.type == "session_started":
                    session.terminate()
            self.assertEqual(session.close().reason, "terminated")

    def test_ends_waiting_calls_and_refuses_others_after_close(self) -> None:
        client = self.sync()
        session = client.listen(**NUMBERED)
        self.assertEqual(next(session).type, "session_started")
        outcome: list[Any] = []
        begun = threading.Event()

        def read() -> None:
            begun.set()
            try:
                outcome.extend(session)
            except voxgate.VoxgateError as error:
                outcome.append(error.code)

        reader = threading.Thread(target=read)
        reader.start()
        begun.wait()
        client.close()
        reader.join()
        self.assertIn(outcome, ([], ["session_over"]))
        with self.assertRaises(voxgate.VoxgateError) as raised:
            session.send(b"12")
        self.assertEqual(raised.exception.code, "session_over")
