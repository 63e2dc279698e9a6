// The same call as code: for curl, TypeScript and Python, of a file or live. No credential stands in it.
import type { Asked } from './asked.ts';

export type Language = 'curl' | 'TypeScript' | 'Python';
export type Way = 'file' | 'live';

/** Live sessions are WebSockets: curl and the libraries that come with Python have none. */
export const hasLive = (language: Language): boolean => language === 'TypeScript';

export function codeOf(asked: Asked, language: Language, way: Way, origin: string): string {
  if (language === 'curl') return curl(asked, origin);
  if (language === 'Python') return python(asked, origin);
  return way === 'live' ? liveTypeScript(asked, origin) : fileTypeScript(asked, origin);
}

/** What was asked for, as the fields of a form. */
function fieldsOf(asked: Asked): [string, string][] {
  const { model, fallbacks, language, languages, diarization, keyterms, prompt, redact, vocabularyBoost, params } =
    asked;
  return [
    ['model', model],
    ...(fallbacks.length === 0 ? [] : [['fallbacks', fallbacks.join(',')] as [string, string]]),
    ...(language === '' ? [] : [['language', language] as [string, string]]),
    ...(languages.length === 0 ? [] : [['languages', languages.join(',')] as [string, string]]),
    ...(diarization ? [['diarization', 'true'] as [string, string]] : []),
    ...(keyterms.length === 0 ? [] : [['keyterms', keyterms.join(',')] as [string, string]]),
    ...(vocabularyBoost === undefined ? [] : [['vocabulary_boost', String(vocabularyBoost)] as [string, string]]),
    ...(prompt === '' ? [] : [['prompt', prompt] as [string, string]]),
    ...(redact.length === 0 ? [] : [['redact', redact.join(',')] as [string, string]]),
    ...(Object.keys(params).length === 0 ? [] : [['provider_params', JSON.stringify(params)] as [string, string]]),
  ];
}

/** The same as members of an object. */
function membersOf(asked: Asked): string[] {
  const { model, fallbacks, language, languages, diarization, keyterms, prompt, redact, vocabularyBoost, params } =
    asked;
  return [
    `model: ${JSON.stringify(model)}`,
    ...(fallbacks.length === 0 ? [] : [`fallbacks: ${JSON.stringify(fallbacks)}`]),
    ...(language === '' ? [] : [`language: ${JSON.stringify(language)}`]),
    ...(languages.length === 0 ? [] : [`languages: ${JSON.stringify(languages)}`]),
    ...(diarization ? ['diarization: true'] : []),
    ...(keyterms.length === 0 ? [] : [`keyterms: ${JSON.stringify(keyterms)}`]),
    ...(vocabularyBoost === undefined ? [] : [`vocabularyBoost: ${vocabularyBoost}`]),
    ...(prompt === '' ? [] : [`prompt: ${JSON.stringify(prompt)}`]),
    ...(redact.length === 0 ? [] : [`redact: ${JSON.stringify(redact)}`]),
    ...(Object.keys(params).length === 0 ? [] : [`providerParams: ${JSON.stringify(params)}`]),
  ];
}

function curl(asked: Asked, origin: string): string {
  const lines = [
    `curl ${origin}/v1/audio/transcriptions`,
    '-H "Authorization: Bearer $VOXGATE_KEY"',
    ...fieldsOf(asked).map(([name, value]) => `-F '${`${name}=${value}`.replaceAll("'", `'\\''`)}'`),
    '-F file=@speech.wav',
  ];
  return lines.join(' \\\n  ');
}

const client = (origin: string) =>
  `const voxgate = new Voxgate({ baseUrl: '${origin}', apiKey: process.env.VOXGATE_KEY });`;

function fileTypeScript(asked: Asked, origin: string): string {
  return `import { Voxgate } from '@voxgate/client';
import { fileFromPath } from '@voxgate/client/node';

${client(origin)}
const { text } = await voxgate.transcribe({
  ${[...membersOf(asked), "file: await fileFromPath('speech.wav')"].join(',\n  ')},
});
console.log(text);`;
}

function liveTypeScript(asked: Asked, origin: string): string {
  return `import { createReadStream } from 'node:fs';
import { Voxgate } from '@voxgate/client';

${client(origin)}
const session = voxgate.listen({
  ${[...membersOf(asked), 'sampleRate: 16000'].join(',\n  ')},
});
// 16-bit samples of one channel at 16 kHz: a WAV file without its header. Your microphone, or a call, goes here.
session.pipe(createReadStream('speech.wav', { start: 44 }), { close: true });
for await (const event of session) {
  if (event.type === 'transcript' && event.is_final) console.log(event.text);
  if (event.type === 'failover') console.error(\`\${event.to} goes on for \${event.from}\`);
}`;
}

function python(asked: Asked, origin: string): string {
  const fields = fieldsOf(asked).map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
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
