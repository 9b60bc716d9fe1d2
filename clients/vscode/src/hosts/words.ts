// How the search of a host stands, in words. Pure.

import { label, type Translate } from '../words';
import type { HostState } from './states';

/** One line, with icons written $(name); '' if nothing is known. */
export function stateWords(state: HostState | undefined, t: Translate): string {
  switch (state?.kind) {
    case undefined:
      return '';
    case 'asking':
      return `$(loading~spin) ${t('asking…')}`;
    case 'not-enabled':
      return `$(circle-slash) ${t('search is not switched on')}`;
    case 'unreachable':
      return `$(error) ${label(state.message, 500)}`;
    case 'enabled': {
      const { sessions, phase } = state.status;
      if (phase === 'idle' || phase === 'closed') return `$(check) ${t('switched on; its index is not open yet')}`;
      const count = sessions === 1 ? t('1 session') : t('{0} sessions', sessions);
      return `$(check) ${count}, ${phase === 'current' ? t('up to date') : phase === 'indexing' ? t('still indexing') : t('some transcripts could not be read')}`;
    }
  }
}

/** Text cut between words into lines of about that many characters: what a list would cut off at its edge. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(line);
  return lines;
}
