"""PocketSphinx behind the protocol of a Vosk server, with Debian's packages alone: `vosk-shaped.py PORT FILE`.

Writes where it listens, and to the file each result before it is sent. Like a Vosk server it is one process for all connections,
and answers each message of audio with one message.
"""
import asyncio
import audioop
import json
import sys

import websockets
from pocketsphinx import Decoder

MODEL = '/usr/share/pocketsphinx/model/en-us/'
RATE = 16_000
FRAMES_PER_SECOND = 100
# Heard at a time, however large the messages are: what is heard does not depend on them.
BLOCK_BYTES = RATE // 10 * 2
# Where a turn ends: the rules of Kaldi that Vosk has as well.
SILENCE_AFTER_WORDS = 0.6
SILENCE_ALONE = 5.0


def new_decoder():
    config = Decoder.default_config()
    config.set_string('-hmm', MODEL + 'en-us')
    config.set_string('-lm', MODEL + 'en-us.lm.bin')
    config.set_string('-dict', MODEL + 'cmudict-en-us.dict')
    config.set_string('-logfn', '/dev/null')
    # In half the time, with the same words.
    config.set_int('-maxhmmpf', 3_000)
    config.set_int('-pl_window', 5)
    # Silence is heard like everything else, so that frames are places in the audio.
    config.set_boolean('-remove_silence', False)
    return Decoder(config)


class Recogniser:
    def __init__(self, decoder, rate):
        self.decoder, self.rate = decoder, rate
        self.resampling, self.rest, self.turn_frames = None, b'', 0
        decoder.start_utt()

    def accept(self, audio):
        """The result where a turn has ended, and None before."""
        if self.rate != RATE:
            audio, self.resampling = audioop.ratecv(audio, 2, 1, self.rate, RATE, self.resampling)
        self.rest += audio
        ended = None
        while len(self.rest) >= BLOCK_BYTES and ended is None:
            block, self.rest = self.rest[:BLOCK_BYTES], self.rest[BLOCK_BYTES:]
            self.hear(block)
            ended = self.end_turn() if self.is_turn_over() else None
        return ended

    def partial(self):
        return {'partial': self.text()}

    def final(self):
        self.hear(self.rest)
        self.rest = b''
        return self.end_turn()

    def hear(self, audio):
        self.decoder.process_raw(audio, False, False)
        self.turn_frames += len(audio) * FRAMES_PER_SECOND // (2 * RATE)

    def end_turn(self):
        self.decoder.end_utt()
        exp = self.decoder.get_logmath().exp
        words = [
            {'conf': min(1.0, exp(conf)), 'end': (end + 1) / FRAMES_PER_SECOND, 'start': start / FRAMES_PER_SECOND, 'word': word}
            for word, start, end, conf in self.segments()
            if not is_silence(word)
        ]
        self.decoder.start_utt()
        self.turn_frames = 0
        text = ' '.join(word['word'] for word in words)
        return {'result': words, 'text': text} if words else {'text': ''}

    def is_turn_over(self):
        silent = 0
        for word, start, end, _ in reversed(self.segments()):
            if not is_silence(word):
                return silent >= SILENCE_AFTER_WORDS * FRAMES_PER_SECOND
            silent += end - start + 1
        return self.turn_frames >= SILENCE_ALONE * FRAMES_PER_SECOND

    def text(self):
        return ' '.join(word for word, *_ in self.segments() if not is_silence(word))

    def segments(self):
        # A second pronunciation of a word is `word(2)`.
        return [(each.word.split('(')[0], each.start_frame, each.end_frame, each.prob) for each in self.decoder.seg()]


def is_silence(word):
    return word == '' or word[0] in '<['


async def main(port, file):
    loop = asyncio.get_running_loop()

    def in_thread(work, *args):
        return loop.run_in_executor(None, work, *args)

    # A connection does not wait for its model: the next one is loaded meanwhile.
    spare = in_thread(new_decoder)
    await spare

    async def serve(socket):
        try:
            await converse(socket)
        except websockets.ConnectionClosed:
            # The client has no more use for it.
            pass

    async def converse(socket):
        nonlocal spare
        recogniser, rate = None, RATE
        async for message in socket:
            if isinstance(message, str) and 'config' in message:
                rate = int(json.loads(message)['config'].get('sample_rate', rate))
                continue
            if recogniser is None:
                loaded, spare = spare, in_thread(new_decoder)
                recogniser = Recogniser(await loaded, rate)
            is_last = message == '{"eof" : 1}'
            result = await in_thread(recogniser.final) if is_last else await in_thread(recogniser.accept, message)
            if result and result['text']:
                with open(file, 'a') as log:
                    log.write(result['text'] + '\n')
            await socket.send(json.dumps(result or recogniser.partial(), indent=2))
            if is_last:
                return

    async with websockets.serve(serve, '127.0.0.1', port) as server:
        print(json.dumps({'port': server.sockets[0].getsockname()[1]}), flush=True)
        await loop.create_future()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
