// The settings of a key: for a new one, or to change them.
import type { KeyBody, KeyView } from '../../../api/console/console.ts';
import { Field, Form, Lines, textOf } from '../../controls/form.tsx';
import { ask } from '../../data/api.ts';
import { aliasesOf, linesOf } from './alias-lines.ts';

/** What a key may be used for, in the words of this page. */
export const SCOPES = [
  { scope: 'listen', text: 'Live sessions' },
  { scope: 'transcribe', text: 'Files' },
  { scope: 'tokens', text: 'Client tokens' },
  { scope: 'tokens_may_upload', text: 'Files with client tokens' },
] as const;

interface KeyFormProps {
  /** Absent for a new one. */
  of: KeyView | undefined;
  /** With the secret, where one was minted. */
  done(minted: { key: KeyView; secret: string } | undefined): void;
}

export function KeyForm({ of, done }: KeyFormProps) {
  const send = async (values: FormData) => {
    const body = bodyOf(values);
    if (of !== undefined) {
      await ask('PATCH', `keys/${of.id}`, body);
      done(undefined);
    } else done(await ask('POST', 'keys', body));
  };
  return (
    <Form button={of === undefined ? 'Mint the key' : 'Save'} send={send}>
      <Field
        label="Name"
        name="name"
        value={of?.name}
        maxLength={100}
        required
        autofocus
        hint="Where it is used, such as “Production, checkout”."
      />
      <fieldset>
        <legend>May be used for</legend>
        {SCOPES.map(({ scope, text }) => (
          <label class="choice" key={scope}>
            <input
              type="checkbox"
              name="scopes"
              value={scope}
              defaultChecked={of === undefined ? scope !== 'tokens_may_upload' : of.scopes.includes(scope)}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <details open={of === undefined ? undefined : isLimited(of)}>
        <summary>Models, limits and expiry</summary>
        <div class="stack close">
          <Field
            label="Models"
            name="models"
            value={of?.models?.join(', ')}
            hint="Slugs separated by commas, or a whole provider: deepgram/*. All when empty."
          />
          <Lines
            label="Aliases"
            name="aliases"
            rows={3}
            value={linesOf(of?.aliases)}
            hint="Names that code sends as its model, and what they stand for, one on each line: best = deepgram/nova-3, assemblyai/universal-streaming-english. The first model, then its fallbacks."
          />
          <Field
            label="Origins"
            name="origins"
            value={of?.origins?.join(', ')}
            hint="Only pages of these may use it or its tokens: https://app.example.com. All when empty."
          />
          <div class="narrow">
            <Field
              label="Sessions at a time"
              name="sessions_max"
              type="number"
              min={1}
              value={of?.sessions_max ?? ''}
            />
            <Field
              label="Requests a minute"
              name="requests_per_minute_max"
              type="number"
              min={1}
              value={of?.requests_per_minute_max ?? ''}
            />
            <Field
              label="Tokens a minute"
              name="tokens_per_minute_max"
              type="number"
              min={1}
              value={of?.tokens_per_minute_max ?? ''}
            />
            <Field
              label="USD a day"
              name="daily_spend_usd_max"
              inputMode="decimal"
              pattern="\d{1,9}(\.\d{1,6})?"
              value={of?.daily_spend_usd_max ?? ''}
            />
          </div>
          <Field
            label="Expires"
            name="expires_at"
            type="datetime-local"
            value={localOf(of?.expires_at)}
            hint="In your time zone. Never when empty."
          />
        </div>
      </details>
    </Form>
  );
}

/** Whether it has any of the settings that are folded. */
const isLimited = ({
  models,
  aliases,
  origins,
  sessions_max,
  requests_per_minute_max,
  tokens_per_minute_max,
  daily_spend_usd_max,
  expires_at,
}: KeyView): boolean =>
  [
    models,
    aliases,
    origins,
    sessions_max,
    requests_per_minute_max,
    tokens_per_minute_max,
    daily_spend_usd_max,
    expires_at,
  ].some((setting) => setting !== null);

function bodyOf(values: FormData): KeyBody {
  const list = (name: string) => {
    const items = textOf(values, name)
      .split(/[\s,]+/)
      .filter((item) => item !== '');
    return items.length === 0 ? null : items;
  };
  const number = (name: string) => (textOf(values, name) === '' ? null : Number(textOf(values, name)));
  const expires = textOf(values, 'expires_at');
  return {
    name: textOf(values, 'name'),
    scopes: values.getAll('scopes') as NonNullable<KeyBody['scopes']>,
    models: list('models'),
    aliases: aliasesOf(textOf(values, 'aliases')),
    origins: list('origins'),
    sessions_max: number('sessions_max'),
    requests_per_minute_max: number('requests_per_minute_max'),
    tokens_per_minute_max: number('tokens_per_minute_max'),
    daily_spend_usd_max: textOf(values, 'daily_spend_usd_max') || null,
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
  };
}

/** As the browser's own field has it: local time without seconds. */
function localOf(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
