// What a node shows on its metrics, without the label that names the node.

export const withoutNode = (text: string): string => text.replaceAll(/,?node="[^"]*"(?=\})/g, '').replaceAll('{}', '');
