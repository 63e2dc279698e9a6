// Short forms of the fields that messages have, by their numbers.

export const text = (id: number) => ({ type: 'string', id });
export const flag = (id: number) => ({ type: 'bool', id });
export const int = (id: number) => ({ type: 'int32', id });
export const float = (id: number) => ({ type: 'float', id });
export const many = (type: string, id: number) => ({ rule: 'repeated', type, id }) as const;
