// `voxgate transcribe FILE [--live]`: a file through a gateway as any client would send it. Without --url it starts a gateway
// of its own for as long as it takes: no server, no key and no network are needed.
import { writeFileSync } from 'node:fs';
import { SPEECH_GATES } from '../../api/bounds.ts';
import { type Command, readArguments } from '../shared/command.ts';
import { CommandError, EXIT, print, tell, UsageError } from '../shared/output.ts';
import { requireReadable, requireWritable } from '../shared/values.ts';
import { ABOUT_WORD_TIMES, liveTranscription, type Target, type TranscriptionRequest } from './live.ts';
import { StatusLine } from './progress.ts';
import { answerOf, sendFile, targetOf, withOwnGateway } from './send.ts';

const FORMATS = ['text', 'json', 'verbose_json', 'diarized_json', 'srt', 'vtt'] as const;

const usage = `Usage: voxgate transcribe FILE [--live] [--model SLUG] [--format F] [-o OUT]
                          [--json] [--quiet] [--language TAG] [--params JSON]
                          [--fallbacks LIST] [--prefer WHAT] [--price RULE]
                          [--speech-gate MODE] [--url URL --key KEY]

Transcribes an audio file: WAV, MP3, MP2, FLAC, Ogg (Opus, Vorbis), WebM, M4A,
MP4, AAC, AIFF, AU, CAF, Wave64, AMR or WMA, as far as the model takes it.
Without --url, a gateway is started for this one file.

  --live       streams the file in real time over /v1/listen and prints each
               turn. The gateway decodes WAV, MP3, MP2, FLAC, Ogg, WebM, and
               uncompressed AIFF, AU, CAF and Wave64; convert other files first
  --model      local/dictation-en when absent: English, without a key;
               voxgate models lists the others; auto lets the gateway choose
  --format     text (when absent), json, verbose_json, diarized_json, srt or
               vtt; not with --live
  -o, --output writes the transcript to a file: --format srt -o speech.srt; not
               with --live
  --json       prints JSON: the verbose transcript, or with --live one event a
               line
  --quiet      hides the progress, which only a terminal shows
  --language   a BCP-47 tag, such as fr
  --params     provider_params, a JSON object: --params '{"align_text": "…"}'
  --fallbacks  models to continue with when that one fails: slugs separated by
               commas, or a JSON array; auto lets the gateway choose
  --prefer     with auto: reliability (when absent), latency, price or
               accuracy
  --price      never_dearer: no fallback that costs more than the first model;
               cheapest: the cheapest model first
  --speech-gate
               text for audio without speech: off, mark or drop; mark for
               Whisper models and off for others when absent
  --url        a running gateway; --key or VOXGATE_KEY is its API key`;

export const transcribe: Command = {
  usage,
  async run(args) {
    const { values, positionals } = readArguments({ usage, operandsMax: Number.POSITIVE_INFINITY }, args, {
      live: { type: 'boolean' },
      json: { type: 'boolean' },
      quiet: { type: 'boolean' },
      format: { type: 'string' },
      output: { type: 'string', short: 'o' },
      model: { type: 'string' },
      language: { type: 'string' },
      params: { type: 'string' },
      fallbacks: { type: 'string' },
      prefer: { type: 'string' },
      price: { type: 'string' },
      'speech-gate': { type: 'string' },
      url: { type: 'string' },
      key: { type: 'string' },
    });
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) throw new UsageError('name one file.', usage);
    const format = formatOf(values);
    const target = targetOf(values);
    if (values.params !== undefined) requireObject(values.params);
    requireReadable(file, 'an audio file');
    if (values.output !== undefined) requireWritable(values.output);
    const request: TranscriptionRequest = {
      file,
      model: values.model ?? 'local/dictation-en',
      json: values.json ?? false,
      language: values.language,
      params: values.params,
      fallbacks: values.fallbacks,
      prefer: values.prefer,
      price: values.price,
      speechGate: gateOf(values['speech-gate']),
    };
    const line = new StatusLine({ isQuiet: values.quiet ?? false });
    const work = (target: Target) =>
      values.live
        ? liveTranscription(target, request, line)
        : fileTranscription(target, { ...request, format, output: values.output }, line);
    return target === undefined ? withOwnGateway(work) : work(target);
  },
};

function gateOf(mode: string | undefined): string | undefined {
  if (mode === undefined || (SPEECH_GATES as readonly string[]).includes(mode)) return mode;
  throw new CommandError(`--speech-gate takes one of: ${SPEECH_GATES.join(', ')}.`, EXIT.usage);
}

function requireObject(params: string): void {
  try {
    const value: unknown = JSON.parse(params);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  } catch {}
  throw new CommandError(`--params takes a JSON object, such as '{"align_text": "…"}'.`, EXIT.usage);
}

interface FileRequest extends TranscriptionRequest {
  format: Format;
  /** The file to write; standard output when absent. */
  output: string | undefined;
}

async function fileTranscription(
  { url, key }: Target,
  { file, model, format, output, language, params, fallbacks, prefer, price, speechGate }: FileRequest,
  line: StatusLine,
): Promise<number> {
  const { response, text } = await sendFile(
    { url, key },
    file,
    {
      model,
      // Its warnings are in `verbose_json` alone, of all that has a text.
      response_format: format === 'text' ? 'verbose_json' : format,
      language,
      provider_params: params,
      ...{ fallbacks, prefer, price },
      speech_gate: speechGate,
    },
    line,
  );
  const { error, warnings, ...transcript } = answerOf(text);
  if (error?.code === 'unsupported_audio' && error.message.includes('Convert it'))
    throw new CommandError(`${error.message} To convert it: ffmpeg -i ${file} speech.wav`);
  if (!response.ok || !response.headers.has('x-request-id'))
    throw new CommandError(
      error?.message ?? `${url} is no Voxgate gateway, or not its base address: it answered HTTP ${response.status}.`,
    );
  const shown = warnings?.filter(({ code }) => format !== 'text' || code !== ABOUT_WORD_TIMES);
  const warned = shown?.map(({ message }) => message) ?? response.headers.get('voxgate-warning')?.split(', ') ?? [];
  for (const warning of warned) tell(`warning: ${warning}`);
  const result = format === 'text' ? `${transcript.text}` : text.trimEnd();
  if (output === undefined) print(result);
  else writeFileSync(output, `${result}\n`);
  return EXIT.ok;
}

type Format = (typeof FORMATS)[number];

function formatOf(values: { format?: string; json?: boolean; live?: boolean; output?: string }): Format {
  const { format, json = false, live = false, output } = values;
  if (live && (format ?? output) !== undefined)
    throw new CommandError('--live shows events as they come: leave --format and --output out, or --live.', EXIT.usage);
  if (json && format !== undefined) throw new CommandError('give --json or --format, not both.', EXIT.usage);
  const wanted = FORMATS.find((each) => each === (format ?? (json ? 'verbose_json' : 'text')));
  if (wanted === undefined) throw new CommandError(`--format takes one of: ${FORMATS.join(', ')}.`, EXIT.usage);
  return wanted;
}
