// Cues as SubRip and as WebVTT. Which cues there are is decided in cues.ts.
import { type Cue, USUAL_LAYOUT } from './cues.ts';

/** SubRip: `1`, `00:00:00,000 --> 00:00:01,000`, the lines. It knows no escapes; without cues it is an empty file. */
export const srtOf = (cues: readonly Cue[], { nameOf } = USUAL_LAYOUT): string =>
  cues
    .map(({ startMs, endMs, lines, speaker }, index) => {
      const who = speaker === undefined ? '' : `${nameOf(speaker)}: `;
      return `${index + 1}\n${timeOf(startMs, ',')} --> ${timeOf(endMs, ',')}\n${who}${lines.join('\n')}\n\n`;
    })
    .join('');

/** WebVTT, where a speaker is a voice. */
export const vttOf = (cues: readonly Cue[], { nameOf } = USUAL_LAYOUT): string =>
  `WEBVTT\n\n${cues
    .map(({ startMs, endMs, lines, speaker }) => {
      const who = speaker === undefined ? '' : `<v ${escaped(nameOf(speaker))}>`;
      return `${timeOf(startMs, '.')} --> ${timeOf(endMs, '.')}\n${who}${escaped(lines.join('\n'))}\n\n`;
    })
    .join('')}`;

/** What would be a tag, a reference or an arrow. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Hours have two digits, or as many more as they need. */
function timeOf(ms: number, mark: ',' | '.'): string {
  const two = (count: number) => String(Math.floor(count)).padStart(2, '0');
  const rest = String(ms % 1000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${rest}`;
}
