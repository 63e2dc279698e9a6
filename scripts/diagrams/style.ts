// The look of all drawings: fonts, colours for light and dark, and one style sheet. A page that shows drawings inline takes the
// rules once, with colours of its own.

/** How a piece of text looks; also its CSS class. */
export type Look = 'title' | 'name' | 'event' | 'guard' | 'action' | 'word' | 'note' | 'chip';

export const FONTS: Readonly<Record<Look, { sizePx: number; bold: boolean }>> = {
  title: { sizePx: 20, bold: true },
  name: { sizePx: 14, bold: true },
  event: { sizePx: 12, bold: true },
  guard: { sizePx: 11.5, bold: false },
  action: { sizePx: 11.5, bold: false },
  word: { sizePx: 11.5, bold: false },
  note: { sizePx: 12, bold: false },
  chip: { sizePx: 10.5, bold: true },
};

const fontRules = Object.entries(FONTS)
  .map(([look, { sizePx, bold }]) => `.chart .${look} { font-size: ${sizePx}px; font-weight: ${bold ? 600 : 400}; }`)
  .join('\n');

const COLOURS = `.chart {
  --paper: #fafaf8; --frame: #dcdcd6; --card: #ffffff; --card-line: #b4b8c2; --band: #eeeff1; --group-line: #c3c6ce;
  --ink: #1c2028; --soft: #565d6b; --faint: #838a98; --line: #7b8290; --after: #97700f; --error: #c43d31;
  --chip: #e2f0ea; --chip-ink: #1f6149; --active: #2563eb; --active-card: #e6eefe;
  font-family: Inter, ui-sans-serif, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif;
}
@media (prefers-color-scheme: dark) {
  .chart {
    --paper: #15171c; --frame: #2c3038; --card: #1f232b; --card-line: #515866; --band: #20242c; --group-line: #434957;
    --ink: #eceef2; --soft: #acb3c0; --faint: #7f8795; --line: #868e9d; --after: #d9b25a; --error: #f0857b;
    --chip: #1d3a31; --chip-ink: #8fd6bb; --active: #7aa7ff; --active-card: #1d2c4d;
  }
}`;

/** `is-current` on a state and `is-taken` on an arrow or a label are set by a page that shows a live machine. */
export const RULES = `${fontRules}
.chart text { fill: var(--ink); font-size: ${FONTS.event.sizePx}px; white-space: pre; }
.chart .guard, .chart .action, .chart .note { fill: var(--soft); }
.chart .word { fill: var(--faint); }
.chart .chip { fill: var(--chip-ink); }
.chart .chip-box { fill: var(--chip); }
.chart .box { fill: var(--card); stroke: var(--card-line); stroke-width: 1.2; }
.chart .group > .box { fill: none; stroke: var(--group-line); }
.chart .machine > .box { fill: var(--paper); stroke: var(--frame); }
.chart .region > .box { stroke-dasharray: 6 5; }
.chart .band { fill: var(--band); }
.chart .inner { fill: none; stroke: var(--card-line); }
.chart .rule { stroke: var(--frame); }
.chart .dot { fill: var(--line); }
.chart .line { fill: none; stroke: var(--line); stroke-width: 1.4; }
.chart .head { fill: var(--line); }
.chart .clock { fill: none; stroke: var(--after); stroke-width: 1.3; stroke-linecap: round; }
.chart .after .line { stroke: var(--after); stroke-dasharray: 5 4; }
.chart .after .head { fill: var(--after); }
.chart .error .line { stroke: var(--error); }
.chart .error .head, .chart .error .event { fill: var(--error); }
.chart .back { fill: var(--paper); }
.chart .is-current > .box { stroke: var(--active); stroke-width: 2.2; }
.chart .state.is-current > .box { fill: var(--active-card); }
.chart .is-taken .line { stroke: var(--active); stroke-width: 2.4; }
.chart .is-taken .head, .chart .is-taken .event { fill: var(--active); }
`;

/** What stands in a drawing. */
export const STYLE = `\n${COLOURS}\n${RULES}`;
