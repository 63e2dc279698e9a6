// Azure's official SDK, unmodified, against the simulated Azure: continuous recognition, with its turns, interims and refusals.
import {
  AudioConfig,
  AudioInputStream,
  CancellationErrorCode,
  Connection,
  OutputFormat,
  PhraseListGrammar,
  ResultReason,
  SpeechConfig,
  SpeechRecognizer,
} from 'microsoft-cognitiveservices-speech-sdk';
import { expect, it } from 'vitest';
import { scripted, TURNS, WHOLE, wavFile } from '../../suites/provider/scripted.ts';

const simulated = scripted('azure');

/** Streams two seconds, and keeps what is told until the session stops or is cancelled. */
async function streamed(faults: string[] = []) {
  const { socketUrl } = await simulated({ faults });
  const path = '/speech/recognition/conversation/cognitiveservices/v1';
  const config = SpeechConfig.fromEndpoint(new URL(socketUrl + path), 'good');
  config.speechRecognitionLanguage = 'en-US';
  config.outputFormat = OutputFormat.Detailed;
  config.requestWordLevelTimestamps();
  const stream = AudioInputStream.createPushStream();
  const recognizer = new SpeechRecognizer(config, AudioConfig.fromStreamInput(stream));
  PhraseListGrammar.fromRecognizer(recognizer).addPhrase('Voxgate');
  const said: [text: string, offset: number][] = [];
  const interims: string[] = [];
  let cancelled: CancellationErrorCode | undefined;
  recognizer.recognizing = (_, { result }) => interims.push(result.text);
  recognizer.recognized = (_, { result }) => {
    if (result.reason === ResultReason.RecognizedSpeech) said.push([result.text, result.offset]);
    // It begins no other turn once its audio has ended.
    if (said.length === TURNS.length) stream.close();
  };
  let turns = 0;
  Connection.fromRecognizer(recognizer).messageReceived = ({ message }) => {
    if (message.path !== 'turn.start') return;
    turns++;
    // What is left of a turn is sent again when there is more.
    if (turns > 1) stream.write(new Uint8Array(3_200).buffer);
  };
  const over = new Promise<void>((resolve) => {
    recognizer.sessionStopped = () => resolve();
    recognizer.canceled = (_, { errorCode }) => {
      cancelled = errorCode;
      if (errorCode !== CancellationErrorCode.NoError) resolve();
    };
  });
  const started = new Promise<void>((resolve, reject) => recognizer.startContinuousRecognitionAsync(resolve, reject));
  stream.write(new Uint8Array(64_000).buffer);
  await started.catch(() => {});
  await over;
  await new Promise<void>((resolve) => recognizer.close(resolve, () => resolve()));
  return { said, interims, cancelled };
}

it('gets interims and phrases, with their positions, until the audio has ended', async () => {
  const { said, interims, cancelled } = await streamed();
  expect(said).toEqual([
    ['hello and welcome.', 0],
    ['good bye', 10_000_000],
  ]);
  expect(interims[0]).toMatch(/^hello/);
  expect(cancelled).toBe(CancellationErrorCode.NoError);
});

it('continues in another turn where the service ended one', async () => {
  const { said } = await streamed(['ends-requests=1']);
  expect(said.map(([text]) => text)).toEqual(['hello and welcome.', 'good bye']);
});

it('lacks a Node client for fast transcription, so that the documented form is used', async () => {
  const { url } = await simulated();
  const form = new FormData();
  form.append('audio', wavFile());
  form.append('definition', JSON.stringify({ locales: ['en-US'], diarization: { enabled: true, maxSpeakers: 2 } }));
  const at = `${url}/speechtotext/transcriptions:transcribe?api-version=2025-10-15`;
  const answer = await fetch(at, { method: 'POST', headers: { 'Ocp-Apim-Subscription-Key': 'good' }, body: form });
  expect(await answer.json()).toMatchObject({
    durationMilliseconds: 2_000,
    combinedPhrases: [{ text: WHOLE }],
    phrases: [{ offsetMilliseconds: 0, durationMilliseconds: 1_000, speaker: 1, locale: 'en-US' }, { speaker: 2 }],
  });
});
