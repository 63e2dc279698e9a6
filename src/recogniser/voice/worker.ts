// The process that finds voices: any number of streams. It is a process and not a thread, because native code that fails ends all of
// it. Its first argument is the path of the model.

import { loadSherpa } from '../dictation/sherpa.ts';
import { VoiceDetectors } from '../dictation/voice-detector.ts';
import { beginModelProcess, serveStreams } from '../workers/model-process.ts';
import { VOICE_SETTINGS, VoiceStream } from './stream.ts';

/** Sockets go before voices. */
const NICENESS = 3;

beginModelProcess(NICENESS);

const detectors = new VoiceDetectors(loadSherpa(), process.argv[2] ?? '', VOICE_SETTINGS);

serveStreams((_query, _organisation, { say }) => {
  const detector = detectors.take();
  const stream = new VoiceStream(detector, say);
  return {
    audio: (bytes) => stream.audio(bytes),
    finalize: () => stream.report(),
    finish: (onFinished) => {
      stream.report();
      say({ type: 'finished' });
      onFinished();
    },
    abandon: () => detectors.giveBack(detector),
  };
});
