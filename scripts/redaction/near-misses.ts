// Numbers and words that look like what is redacted, and are not: order numbers, prices, times, years, rooms, versions, places.

type Draw = (below: number) => number;

const digits = (draw: Draw, count: number): string => Array.from({ length: count }, () => draw(10)).join('');

/** Sixteen digits that fail the check of card networks. */
function failing(draw: Draw): string {
  for (;;) {
    const text = `4${digits(draw, 15)}`;
    const sum = [...text].reverse().reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
    if (sum % 10 !== 0) return text;
  }
}

export const NEAR_MISSES: readonly ((draw: Draw) => string)[] = [
  (draw) => `Your order number is ${failing(draw)}.`,
  (draw) => `The order is ${failing(draw).match(/.{4}/g)?.join(' ')}, it ships today.`,
  (draw) => `The tracking number is ${failing(draw).match(/.{4}/g)?.join('-')}.`,
  (draw) => `That comes to $${1 + draw(9)},${100 + draw(899)},${100 + draw(899)}.99 in total.`,
  (draw) => `The price is ${10 + draw(89)}.99, down from ${100 + draw(89)}.50.`,
  (draw) => `The meeting is at ${1 + draw(12)}:${10 + draw(49)} on the ${1 + draw(28)}th.`,
  (draw) => `In ${1900 + draw(120)} and again in ${1900 + draw(120)} the river froze.`,
  (draw) => `Room ${100 + draw(899)}, floor ${1 + draw(9)}, building ${1 + draw(30)}.`,
  (draw) => `We run version ${draw(9)}.${draw(20)}.${draw(9)} of Node ${18 + draw(6)}.`,
  () => 'Look at example dot com for the details.',
  () => 'I work at google dot com these days.',
  () => 'You can find it at amazon dot com slash books.',
  () => 'Let us meet at noon at the station.',
  () => 'He is at home, and she is at work. Dot your i’s.',
  (draw) => `The population grew from ${1 + draw(8)} million to ${1 + draw(8)}${digits(draw, 6)} people.`,
  (draw) => `Count with me: one two three four five six seven eight nine ten, ${SAID[draw(10)]}.`,
  (draw) => `Your booking reference is ${digits(draw, 10)}.`,
  (draw) => `Ticket ${digits(draw, 9)} is still open.`,
  (draw) => `invoice ${digits(draw, 3)}-${digits(draw, 3)}-${digits(draw, 4)} was paid`,
  () => 'The server is at 192.168.100.200, port 8080.',
  (draw) => `On 12/05/${2000 + draw(25)} at 10:30 we launched.`,
  (draw) => `The company was founded on March 4th, ${1900 + draw(99)}.`,
  (draw) => `She was born in ${1950 + draw(50)}, I believe.`,
  () => 'It was the first of May, a cold day.',
  (draw) => `Turn left after ${100 + draw(899)} metres, then drive ${1 + draw(9)} kilometres.`,
  (draw) => `The ISBN is 978${digits(draw, 10)}.`,
  (draw) => `the score was ${draw(9)} to ${draw(9)} after ${45 + draw(45)} minutes`,
  (draw) => `Set the oven to ${100 + draw(150)} degrees for ${20 + draw(39)} minutes.`,
  () => 'two hundred and fifty thousand dollars over thirty years',
  () => 'I have forty-two emails about twenty-one tickets.',
  (draw) => `error code ${digits(draw, 8)} came up twice`,
  (draw) => `It weighs ${1 + draw(9)}.${digits(draw, 3)} kilos, and costs ${10 + draw(80)} euros`,
  () => 'Four score and seven years ago.',
  () => 'Point at the dot and say which one.',
  (draw) => `serial number ${digits(draw, 4)} ${digits(draw, 4)} ${digits(draw, 4)}`,
  () => 'Is this about the credit card you lost last week?',
  () => 'My email does not work, and the phone is dead.',
  () => 'Nineteen eighty-four is a good book.',
  (draw) => `chapter ${1 + draw(20)} verse ${1 + draw(30)} to ${31 + draw(20)}`,
  () => 'The address is ten Downing Street.',
];

const SAID = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
