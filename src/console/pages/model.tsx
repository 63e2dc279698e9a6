// One model: what it can, what it takes, what it costs, and a request to begin with.
import type { Model as ModelRecord, Price } from '../../api/models.ts';
import { Badge, Notice, Prose } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { Table } from '../controls/table.tsx';
import { Copyable } from '../controls/values.tsx';
import { useAnswer } from '../data/api.ts';
import { usd } from '../data/format.ts';
import { acceptedBy, propertiesOf, type Schema } from '../data/json-schema.ts';
import { abilitiesOf, priceOf, STATUS_TONES } from './models.tsx';

export function Model({ params: { provider, model } }: { params: Record<string, string> }) {
  const answer = useAnswer<ModelRecord>(`models/${provider}/${model}`);
  return (
    <Page
      title={answer.value?.name ?? `${provider}/${model}`}
      about={answer.value && <Prose text={answer.value.description} />}
    >
      <Loaded answer={answer}>
        {(record) => (
          <>
            <Facts model={record} />
            <Options model={record} />
            <section class="stack close">
              <h2>A request to begin with</h2>
              {record.modes.includes('batch') ? (
                <Copyable label="the request for a file" text={fileRequest(record)} />
              ) : null}
              {record.modes.includes('live') ? (
                <Copyable label="the address for live audio" text={liveAddress(record)} />
              ) : null}
            </section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Facts({ model }: { model: ModelRecord }) {
  const { available, status, modes, languages, capabilities, pricing, audio, live_turns } = model;
  return (
    <section class="card">
      <dl class="pairs">
        <dt>Slug</dt>
        <dd>
          <code>{model.id}</code>
        </dd>
        <dt>State</dt>
        <dd>
          {available ? (
            <Badge tone={STATUS_TONES[status]}>{status}</Badge>
          ) : (
            <Badge tone="quiet">no key for its provider</Badge>
          )}
        </dd>
        <dt>Files</dt>
        <dd>{[priceOf(pricing.batch), ...addOnsOf(pricing.batch)].join(', ')}</dd>
        <dt>Live</dt>
        <dd>{[priceOf(pricing.live), ...addOnsOf(pricing.live)].join(', ')}</dd>
        <dt>On a key of your own</dt>
        <dd>$0.00</dd>
        <dt>Modes</dt>
        <dd>{modes.join(', ')}</dd>
        <dt>Can</dt>
        <dd>{abilitiesOf(capabilities).join(', ') || 'text alone'}</dd>
        <dt>Languages</dt>
        <dd>{languages.includes('*') ? 'many, see its provider' : languages.join(', ')}</dd>
        <dt>Largest file</dt>
        <dd>
          {audio.max_file_bytes === null ? 'only the gateway’s limit' : `${Math.round(audio.max_file_bytes / 1e6)} MB`}
        </dd>
      </dl>
      {live_turns === 'gateway' ? (
        <Notice tone="busy">
          It hears files only: live audio is cut at silences, and each utterance is a turn without interims.
        </Notice>
      ) : null}
    </section>
  );
}

function Options({ model }: { model: ModelRecord }) {
  const options = propertiesOf(model.provider_params as Schema);
  return (
    <section class="stack close">
      <h2>Options</h2>
      <p class="quiet">
        Members of <code>provider_params</code>, a JSON object, for files and live audio alike.
      </p>
      <Table
        caption="Options"
        rows={options}
        idOf={({ name }) => name}
        empty={<p>It has no options of its own.</p>}
        columns={[
          {
            title: 'Option',
            cell: ({ name, required }) => (
              <>
                <code>{name}</code>
                {required ? ' (required)' : ''}
              </>
            ),
          },
          { title: 'Takes', cell: ({ schema }) => acceptedBy(schema) },
          { title: 'What it does', cell: ({ schema }) => <Prose text={schema.description ?? ''} /> },
        ]}
      />
    </section>
  );
}

/** `key terms +$0.0013`: surcharges of options. */
const addOnsOf = (price: Price | undefined): string[] =>
  (price?.add_ons ?? []).map(({ name, amount }) => `${name.toLowerCase()} +${usd(amount)}`);

const fileRequest = ({ id }: ModelRecord): string =>
  `curl ${location.origin}/v1/audio/transcriptions -H "Authorization: Bearer $VOXGATE_KEY" -F model=${id} -F file=@speech.wav`;

const liveAddress = ({ id }: ModelRecord): string =>
  `${location.origin.replace(/^http/, 'ws')}/v1/listen?model=${id}&sample_rate=16000`;
