// What `local/digits-en` listens for: digits one by one, as in telephone and card numbers.

/** JSGF. */
export const DIGITS_EN = `#JSGF V1.0;
grammar digits_en;

public <digits> = (zero | oh | one | two | three | four | five | six | seven | eight | nine)+;
`;
