// Who said what: by name, by the form of a line and by colour, never by colour alone.
const FORMS = 4;

export const speakerClass = (speaker: number | undefined): string =>
  speaker === undefined ? '' : `speaker speaker-${(speaker % FORMS) + 1}`;

export function SpeakerName({ speaker }: { speaker: number | undefined }) {
  return speaker === undefined ? null : <strong class="speaker-name">Speaker {speaker + 1}</strong>;
}
