// A request of the playground, and the same request as code: for curl, TypeScript and Python, with a file or live. No credential is in it.

/** In the place of a model: the gateway chooses one. */
export const AUTO = 'auto';

export interface SessionRequest {
  /** A slug, or `auto`. */
  model: string;
  /** What counts first where the gateway chooses a model; empty as usual. */
  prefer: string;
  fallbacks: readonly string[];
  language: string;
  /** What may be spoken, the likeliest first. */
  languages: readonly string[];
  diarization: boolean;
  /** Names and terms that may come up. */
  keyterms: readonly string[];
  /** From 0 to 1; the model decides when undefined. */
  vocabularyBoost: number | undefined;
  prompt: string;
  redact: readonly string[];
  providerParams: Readonly<Record<string, unknown>>;
}

export const EMPTY_REQUEST: SessionRequest = {
  model: '',
  prefer: '',
  fallbacks: [],
  language: '',
  languages: [],
  diarization: false,
  keyterms: [],
  vocabularyBoost: undefined,
  prompt: '',
  redact: [],
  providerParams: {},
};

/** The model and what is not empty, as options of the TypeScript client. */
export const optionsOf = (request: SessionRequest): [name: string, value: unknown][] =>
  Object.entries(request).filter(([name, value]) => {
    if (name === 'prefer' && !isChosen(request)) return false;
    return name === 'model' || !isEmpty(value);
  });

/** Whether the gateway chooses a model of it. */
export const isChosen = ({ model, fallbacks }: SessionRequest): boolean => [model, ...fallbacks].includes(AUTO);

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === '' || value === false;
}

export type Language = 'curl' | 'TypeScript' | 'Python';
export type Way = 'file' | 'live';

/** Live sessions are WebSockets: curl and the libraries that come with Python have none. */
export const hasLive = (language: Language): boolean => language === 'TypeScript';

export function codeOf(request: SessionRequest, language: Language, way: Way, origin: string): string {
  if (language === 'curl') return curl(request, origin);
  if (language === 'Python') return python(request, origin);
  return way === 'live' ? liveTypeScript(request, origin) : fileTypeScript(request, origin);
}

/** The options as fields of a form. */
function fieldsOf(request: SessionRequest): [name: string, value: string][] {
  return optionsOf(request).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value),
  ]);
}

/** The options as properties of an object. */
const propertiesOf = (request: SessionRequest): string[] =>
  optionsOf(request).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);

function curl(request: SessionRequest, origin: string): string {
  const lines = [
    `curl ${origin}/v1/audio/transcriptions`,
    '-H "Authorization: Bearer $VOXGATE_KEY"',
    ...fieldsOf(request).map(([name, value]) => `-F '${`${name}=${value}`.replaceAll("'", `'\\''`)}'`),
    '-F file=@speech.wav',
  ];
  return lines.join(' \\\n  ');
}

const client = (origin: string) =>
  `const voxgate = new Voxgate({ baseUrl: '${origin}', apiKey: process.env.VOXGATE_KEY });`;

function fileTypeScript(request: SessionRequest, origin: string): string {
  return `import { Voxgate } from '@voxgate/client';
import { fileFromPath } from '@voxgate/client/node';

${client(origin)}
const { text } = await voxgate.transcribe({
  ${[...propertiesOf(request), "file: await fileFromPath('speech.wav')"].join(',\n  ')},
});
console.log(text);`;
}

function liveTypeScript(request: SessionRequest, origin: string): string {
  return `import { createReadStream } from 'node:fs';
import { Voxgate } from '@voxgate/client';

${client(origin)}
const session = voxgate.listen({
  ${[...propertiesOf(request), 'sampleRate: 16000'].join(',\n  ')},
});
// 16-bit samples of one channel at 16 kHz: a WAV file without its header. Your microphone, or a call, goes here.
session.pipe(createReadStream('speech.wav', { start: 44 }), { close: true });
for await (const event of session) {
  if (event.type === 'transcript' && event.is_final) console.log(event.text);
  if (event.type === 'failover') console.error(\`\${event.to} goes on for \${event.from}\`);
}`;
}

function python(request: SessionRequest, origin: string): string {
  const fields = fieldsOf(request).map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  return `import os
import requests

answer = requests.post(
    "${origin}/v1/audio/transcriptions",
    headers={"Authorization": "Bearer " + os.environ["VOXGATE_KEY"]},
    data={
${fields.join('\n')}
    },
    files={"file": open("speech.wav", "rb")},
)
answer.raise_for_status()
print(answer.json()["text"])`;
}
