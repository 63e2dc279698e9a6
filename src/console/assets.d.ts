// What the build makes of an import that is not a script: the text of a file, or the address that it is served at.
declare module '*?raw' {
  const text: string;
  export default text;
}
declare module '*?worker&url' {
  const address: string;
  export default address;
}
declare module '*.svg' {
  const address: string;
  export default address;
}
declare module '*.wav' {
  const address: string;
  export default address;
}
declare module '*.css';
