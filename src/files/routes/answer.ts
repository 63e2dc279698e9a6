// A transcription as it is answered by HTTP, whole: the type and the headers of each format, or server-sent events where a stream
// was asked for.

import type { WholeReply } from '../../http/door.ts';
import { json } from '../../http/router.ts';
import {
  diarizedTranscriptionOf,
  logprobsOf,
  subtitlesOf,
  textOf,
  transcriptionOf,
  usageOf,
  verboseTranscriptionOf,
  warningsOf,
} from '../answers.ts';
import type { FileResult } from '../job.ts';
import { srtOf, vttOf } from '../subtitles/formats.ts';
import { TranscriptEvents } from './events.ts';
import { streamHeaders } from './stream.ts';
import { warningHeader } from './warnings.ts';

export function answerOf(result: FileResult, requestId: string): WholeReply {
  const { request, outcome, warnings } = result;
  if (request.stream) return { status: 200, headers: streamHeaders(warnings), body: eventsOf(result) };
  const headers = warningHeader(warnings);
  const inText = (type: string, body: string): WholeReply => ({
    status: 200,
    headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` },
    body,
  });
  switch (request.responseFormat) {
    case 'text':
      return inText('text/plain', `${textOf(outcome)}\n`);
    case 'json':
      return json(200, transcriptionOf(result), headers);
    case 'verbose_json':
      return json(200, verboseTranscriptionOf(result, requestId), headers);
    case 'diarized_json':
      return json(200, diarizedTranscriptionOf(result), headers);
    // Nobody has registered a type for SubRip; OpenAI sends it as plain text, and WebVTT has a type that players ask for.
    case 'srt':
      return inText('text/plain', srtOf(subtitlesOf(result)));
    case 'vtt':
      return inText('text/vtt', vttOf(subtitlesOf(result)));
  }
}

function eventsOf(result: FileResult): string {
  const { request, outcome, warnings } = result;
  const events = new TranscriptEvents(request);
  const heard = outcome.utterances.map((utterance) => events.utterance(utterance)).join('');
  return (
    heard + events.done(textOf(outcome), { ...logprobsOf(result), usage: usageOf(result), ...warningsOf(warnings) })
  );
}
