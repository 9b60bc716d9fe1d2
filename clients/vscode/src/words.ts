// Small texts for people. Pure: what is to be translated comes in as a function.

/** vscode.l10n.t, or a stand-in for tests. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** How long ago a time was, in the words of that locale; '' for an unknown time. */
export function age(time: string | number | null, now: number, locale: string): string {
  if (time === null) return '';
  const at = typeof time === 'number' ? time : Date.parse(time);
  if (Number.isNaN(at)) return '';
  const past = now - at;
  const format = new Intl.RelativeTimeFormat(locale, { style: 'narrow' });
  for (const [unit, length] of units) {
    if (past >= length) return format.format(-Math.floor(past / length), unit);
  }
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, 'second');
}

/** The last segment of a path in any spelling; '' for none. */
export function project(cwd: string | null): string {
  return (cwd ?? '').split(/[/\\]+/).filter((part) => part !== '').at(-1) ?? '';
}

/** A number of bytes, with a unit. */
export function bytes(n: number): string {
  for (const [size, name] of [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']] as const) {
    if (n >= size) return `${(n / size).toFixed(1)} ${name}`;
  }
  return `${n} B`;
}

/**
 * One line without control and direction-changing characters, of at most that
 * many code points. What a transcript holds must not disturb a list.
 */
export function oneLine(text: string, most = 300): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/gu, ' ').replace(/[\u202a-\u202e\u2066-\u2069]/gu, '').trim();
  const points = Array.from(clean.length > most * 2 ? clean.slice(0, most * 2 + 1) : clean);
  return points.length > most ? `${points.slice(0, most - 1).join('')}…` : points.join('');
}

/** The same for a label, where $(name) would become an icon. */
export function label(text: string, most?: number): string {
  return oneLine(text, most).replace(/\$\(/g, '$\u200b(');
}
