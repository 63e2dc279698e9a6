// What `local/digits-fr` listens for: digits one by one, as in telephone and card numbers.

/** JSGF. */
export const DIGITS_FR = `#JSGF V1.0 UTF-8 fr;
grammar digits_fr;

public <digits> = (zéro | un | deux | trois | quatre | cinq | six | sept | huit | neuf)+;
`;
