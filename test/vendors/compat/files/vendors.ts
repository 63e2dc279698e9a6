// How each vendor's clients send a file and come back for it, request by request.

/** A key at one dialect of a gateway. */
export class Visitor {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, { dialect, headersOf }: Vendor, key: string) {
    this.#base = `${url}/compat/${dialect}`;
    this.#headers = headersOf(key);
  }

  async send(method: string, path: string, body?: Uint8Array | FormData | object): Promise<Reply> {
    const isRaw = body === undefined || body instanceof FormData || body instanceof Uint8Array;
    const response = await fetch(this.#base + path, {
      method,
      headers: { ...this.#headers, ...(isRaw ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as string }),
    });
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : {};
    const at = (place: string) =>
      place.split('.').reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], json) as string;
    return { status: response.status, text, at };
  }
}

export interface Reply {
  status: number;
  text: string;
  /** A member of its JSON: `job.status`. */
  at(path: string): string;
}

export interface Vendor {
  dialect: string;
  headersOf(key: string): Record<string, string>;
  /** Puts a file there, where that is a request of its own. */
  keep?(visitor: Visitor, audio: Uint8Array): Promise<Reply>;
  /** Asks for its transcript; both at once where there is no other way. */
  ask(visitor: Visitor, audio: Uint8Array, model: string): Promise<Reply>;
  /** The same of a file that is somewhere else. */
  askElsewhere(visitor: Visitor, url: string, model: string): Promise<Reply>;
  idOf(asked: Reply): string;
  /** The path of a job. */
  pathOf(id: string): string;
  removal?: string;
  statusOf(shown: Reply): string;
  statuses: { queued: string; processing: string };
  /** The sentence in a refusal, if it has the vendor's shape. */
  refusalOf(reply: Reply): string | undefined;
}

const wavForm = (part: string, audio: Uint8Array, fields: Record<string, string> = {}): FormData => {
  const form = new FormData();
  form.append(part, new File([new Uint8Array(audio)], 'speech.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};

const assemblyai: Vendor = {
  dialect: 'assemblyai',
  headersOf: (key) => ({ Authorization: key }),
  keep: (visitor, audio) => visitor.send('POST', '/v2/upload', audio),
  async ask(visitor, audio, model) {
    const kept = await visitor.send('POST', '/v2/upload', audio);
    return this.askElsewhere(visitor, kept.at('upload_url'), model);
  },
  askElsewhere: (visitor, audio_url, model) =>
    visitor.send('POST', '/v2/transcript', { audio_url, speech_models: [model] }),
  idOf: ({ at }) => at('id'),
  pathOf: (id) => `/v2/transcript/${id}`,
  statusOf: ({ at }) => at('status'),
  statuses: { queued: 'queued', processing: 'processing' },
  refusalOf: ({ at }) => at('error'),
};

const speechmaticsConfig = (model: string, more: object = {}) => ({
  config: JSON.stringify({ type: 'transcription', transcription_config: { language: 'en', model }, ...more }),
});

const speechmatics: Vendor = {
  dialect: 'speechmatics',
  headersOf: (key) => ({ Authorization: `Bearer ${key}` }),
  ask: (visitor, audio, model) =>
    visitor.send('POST', '/v2/jobs', wavForm('data_file', audio, speechmaticsConfig(model))),
  askElsewhere(visitor, url, model) {
    const form = new FormData();
    form.append('config', speechmaticsConfig(model, { fetch_data: { url } }).config);
    return visitor.send('POST', '/v2/jobs', form);
  },
  idOf: ({ at }) => at('id'),
  pathOf: (id) => `/v2/jobs/${id}`,
  removal: '?force=true',
  statusOf: ({ at }) => at('job.status'),
  statuses: { queued: 'running', processing: 'running' },
  refusalOf: ({ at, status }) => (Number(at('code')) === status && at('error') !== '' ? at('detail') : undefined),
};

const gladia: Vendor = {
  dialect: 'gladia',
  headersOf: (key) => ({ 'x-gladia-key': key }),
  keep: (visitor, audio) => visitor.send('POST', '/v2/upload', wavForm('audio', audio)),
  async ask(visitor, audio, model) {
    const kept = await visitor.send('POST', '/v2/upload', wavForm('audio', audio));
    return this.askElsewhere(visitor, kept.at('audio_url'), model);
  },
  askElsewhere: (visitor, audio_url, model) => visitor.send('POST', '/v2/pre-recorded', { audio_url, model }),
  idOf: ({ at }) => at('id'),
  pathOf: (id) => `/v2/pre-recorded/${id}`,
  statusOf: ({ at }) => at('status'),
  statuses: { queued: 'queued', processing: 'processing' },
  refusalOf: ({ at, status }) => (Number(at('statusCode')) === status ? at('message') : undefined),
};

const soniox: Vendor = {
  dialect: 'soniox',
  headersOf: (key) => ({ Authorization: `Bearer ${key}` }),
  keep: (visitor, audio) => visitor.send('POST', '/v1/files', wavForm('file', audio)),
  async ask(visitor, audio, model) {
    const kept = await visitor.send('POST', '/v1/files', wavForm('file', audio));
    return visitor.send('POST', '/v1/transcriptions', { file_id: kept.at('id'), model });
  },
  askElsewhere: (visitor, audio_url, model) => visitor.send('POST', '/v1/transcriptions', { audio_url, model }),
  idOf: ({ at }) => at('id'),
  pathOf: (id) => `/v1/transcriptions/${id}`,
  statusOf: ({ at }) => at('status'),
  statuses: { queued: 'queued', processing: 'processing' },
  refusalOf: ({ at, status }) => (Number(at('status_code')) === status ? at('message') : undefined),
};

export const vendors: readonly Vendor[] = [assemblyai, speechmatics, gladia, soniox];
