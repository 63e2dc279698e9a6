// What a model takes and can do, as icons: each says its word to the pointer and to screen readers.

import formatting from 'heroicons/24/outline/chat-bubble-bottom-center-text.svg?raw';
import interims from 'heroicons/24/outline/chat-bubble-left-ellipsis.svg?raw';
import times from 'heroicons/24/outline/clock.svg?raw';
import file from 'heroicons/24/outline/document-text.svg?raw';
import detection from 'heroicons/24/outline/language.svg?raw';
import live from 'heroicons/24/outline/microphone.svg?raw';
import redaction from 'heroicons/24/outline/shield-check.svg?raw';
import speakers from 'heroicons/24/outline/users.svg?raw';
import type { Model } from '../../../api/models.ts';
import { Icon } from '../../controls/icon.tsx';
import { ABILITIES } from './words.ts';

const MODES = [
  ['live', 'live', live],
  ['batch', 'files', file],
] as const;
const ABILITY_ICONS = {
  diarization: speakers,
  word_timestamps: times,
  interim_results: interims,
  formatting,
  redaction,
  language_detection: detection,
} as const satisfies Record<keyof typeof ABILITIES, string>;

const Labelled = ({ svg, text }: { svg: string; text: string }) => (
  <span class="ability" title={text}>
    <Icon svg={svg} />
    <span class="unseen">{text} </span>
  </span>
);

export const ModeIcons = ({ modes }: Pick<Model, 'modes'>) => (
  <span class="abilities">
    {MODES.filter(([mode]) => modes.includes(mode)).map(([mode, text, svg]) => (
      <Labelled key={mode} svg={svg} text={text} />
    ))}
  </span>
);

export const AbilityIcons = ({ capabilities }: Pick<Model, 'capabilities'>) => (
  <span class="abilities">
    {(Object.keys(ABILITIES) as (keyof typeof ABILITIES)[])
      .filter((name) => capabilities[name])
      .map((name) => (
        <Labelled key={name} svg={ABILITY_ICONS[name]} text={ABILITIES[name]} />
      ))}
  </span>
);

export const AbilityLegend = () => (
  <p class="abilities legend quiet small">
    {[
      ...MODES.map(([, text, svg]) => [text, svg] as const),
      ...(Object.keys(ABILITIES) as (keyof typeof ABILITIES)[]).map(
        (name) => [ABILITIES[name], ABILITY_ICONS[name]] as const,
      ),
    ].map(([text, svg]) => (
      <span key={text} class="ability">
        <Icon svg={svg} /> {text}
      </span>
    ))}
  </p>
);
