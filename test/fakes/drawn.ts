// How many cases a test draws: a tenth of them with `npm test`, and all with `ALL_DRAWN=true npm test`, as the build runs it. The seeds
// are the same, so the tenth is the first of all.
const PART = 0.1;
export const ALL_DRAWN = process.env.ALL_DRAWN === 'true';

export const drawn = (all: number): number => (ALL_DRAWN ? all : Math.ceil(all * PART));

/** The cases of a list that are drawn. */
export const drawnOf = <Case>(all: readonly Case[]): readonly Case[] => all.slice(0, drawn(all.length));
