"""What the documents tell people to write does what they say."""

import contextlib
import io
import re
from unittest import mock

from .rig import AUDIO, KEY, ROOT, URL, Case


class Documents(Case):
    def output_of(self, code: str) -> list[str]:
        # One word is heard faster than fifteen seconds of them.
        here = code.replace("http://127.0.0.1:8080", URL).replace("test/fixtures/audio/reading.wav", str(AUDIO / "yes.wav"))
        printed = io.StringIO()
        with mock.patch.dict("os.environ", {"VOXGATE_KEY": KEY}), contextlib.redirect_stdout(printed):
            exec(compile(here, "docs/guides/python.md", "exec"), {"__name__": "__main__"})
        return printed.getvalue().splitlines()

    def test_print_the_transcript_of_the_example_of_jobs(self) -> None:
        text = (ROOT / "docs/guides/jobs.md").read_text(encoding="utf-8")
        [program] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(self.output_of(program), ["Yes."])

    def test_print_the_transcripts_of_the_guides_examples(self) -> None:
        text = (ROOT / "docs/guides/python.md").read_text(encoding="utf-8")
        file, live, asynchronous = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        text, *words = self.output_of(file)
        self.assertEqual((text, [word.split(" ")[1] for word in words]), ("Yes.", ["Yes."]))
        self.assertEqual(self.output_of(live), ["Yes.", "0.00"])
        self.assertEqual(self.output_of(asynchronous), ["Yes."])
