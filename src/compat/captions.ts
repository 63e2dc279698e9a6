// Subtitles of a transcript that another vendor's client comes back for, in the layout that it asks for.
import type { VerboseTranscription } from '../api/transcriptions.ts';
import { type CueLayout, cuesOf, USUAL_LAYOUT } from '../files/subtitles/cues.ts';
import { srtOf, vttOf } from '../files/subtitles/formats.ts';
import type { CaptionLayout, Captions } from '../vendors/compat/jobs.ts';
import { turnsOf } from '../vendors/compat/transcript.ts';

const WRITE = { srt: srtOf, vtt: vttOf } as const;

export const captionsOf: Captions = (heard, format, asked = {}) => {
  const layout = layoutOf(asked);
  return WRITE[format](cuesOf(spoken(heard, asked), heard.duration, true, layout).cues, layout);
};

function layoutOf({ charactersMax, lineCharactersMax, nameOf = USUAL_LAYOUT.nameOf }: CaptionLayout): CueLayout {
  const { lineWidthMax, linesMax } = USUAL_LAYOUT;
  const line = lineCharactersMax ?? lineWidthMax;
  if (charactersMax === undefined) return { lineWidthMax: line, linesMax, nameOf };
  const lines = charactersMax <= line ? 1 : linesMax;
  // The break between two lines is a character as well.
  return { lineWidthMax: Math.floor((charactersMax - lines + 1) / lines), linesMax: lines, nameOf };
}

const spoken = (heard: VerboseTranscription, { hasSpeakers = true }: CaptionLayout) =>
  turnsOf(heard).map(({ speaker, words, ...turn }) => ({
    ...turn,
    words: hasSpeakers ? words : words.map(({ speaker: _, ...word }) => word),
    ...(speaker === undefined || !hasSpeakers ? {} : { speaker }),
  }));
