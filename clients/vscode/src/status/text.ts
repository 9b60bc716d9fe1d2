// The state of the service in words. Pure.

import type { Status } from '../contract';
import type { HostState } from '../hosts/states';
import { stateWords } from '../hosts/words';
import type { ConnectionState } from '../server/connection';
import { age, bytes, oneLine, type Translate } from '../words';

export interface StatusLine {
  /** With icons written $(name). */
  readonly text: string;
  readonly tooltip: string;
  readonly level: 'plain' | 'warning' | 'error';
  /** For screen readers: the text without icons. */
  readonly spoken: string;
}

/** What the status bar says: how the index of this machine stands, and below that which other host is searched, if one is. */
export function statusLine(state: ConnectionState, status: Status | undefined, t: Translate, elsewhere?: string): StatusLine {
  const here = ownLine(state, status, t);
  if (elsewhere === undefined) return here;
  const searched = t('Searched is {0}, not this machine.', elsewhere);
  return { ...here, tooltip: `${here.tooltip}\n${searched}`, spoken: `${here.spoken} ${searched}` };
}

function ownLine(state: ConnectionState, status: Status | undefined, t: Translate): StatusLine {
  if (state === 'failed') return line('$(error)', t('Sessions'), t('The session server does not run. Click for more.'), 'error');
  if (state === 'waiting') return line('$(sync~spin)', t('Sessions'), t('The session server stopped and is started again.'), 'warning');
  if (state !== 'running' || status === undefined) return line('$(loading~spin)', t('Sessions'), t('The session server starts.'), 'plain');
  if (!status.decided) return line('$(comment-discussion)', t('Sessions: off'), t('Session search is not enabled yet. Click to decide.'), 'plain');
  if (!status.enabled) return line('$(circle-slash)', t('Sessions: off'), t('Session search is switched off.'), 'plain');
  const count = t('{0} sessions', status.sessions);
  if (status.phase === 'indexing') {
    const done = percent(status);
    const text = done === undefined ? t('Indexing sessions') : t('Indexing sessions {0} %', done);
    return line('$(sync~spin)', text, progressWords(status, t) || count, 'plain');
  }
  if (status.phase === 'degraded') {
    return line('$(warning)', count, t('Some transcripts could not be read. Click for more.'), 'warning');
  }
  if (status.phase === 'idle' || status.phase === 'closed') {
    return line('$(warning)', t('Sessions'), t('The index is not open. Click for more.'), 'warning');
  }
  return line('$(comment-discussion)', count, t('Agent sessions: {0}, up to date. Click for more.', count), 'plain');
}

function line(icon: string, text: string, tooltip: string, level: StatusLine['level']): StatusLine {
  return { text: `${icon} ${text}`, tooltip, level, spoken: `${text}. ${tooltip}` };
}

/** How much of the present pass is done, 0 to 99; undefined outside one. */
export function percent(status: Status): number | undefined {
  const p = status.progress;
  if (p === undefined || p.bytesTotal <= 0) return undefined;
  return Math.max(0, Math.min(99, Math.floor((100 * p.bytesDone) / p.bytesTotal)));
}

function progressWords(status: Status, t: Translate): string {
  const p = status.progress;
  return p === undefined ? '' : t('{0} of {1} files, {2} of {3}', p.filesDone, p.filesTotal, bytes(p.bytesDone), bytes(p.bytesTotal));
}

export interface PageFacts {
  readonly state: ConnectionState;
  readonly status: Status | undefined;
  readonly historyDays: number | null | undefined;
  readonly version: string | undefined;
  /** The other host that is searched, and how it stands as far as known. */
  readonly elsewhere?: { readonly name: string; readonly state: HostState | undefined };
  readonly now: number;
  readonly locale: string;
}

const phases: Record<Status['phase'], string> = {
  idle: 'idle',
  indexing: 'indexing',
  current: 'up to date',
  degraded: 'degraded',
  closed: 'closed',
};

/** The status page, in Markdown. */
export function statusPage(facts: PageFacts, t: Translate): string {
  const { status, now, locale } = facts;
  const out: string[] = [`# ${t('Agent sessions')}`, ''];
  if (status === undefined) {
    out.push(facts.state === 'failed' ? t('The session server does not run. The command "sessionls: Show Log" tells why.') : t('The session server starts.'), '');
    return out.join('\n');
  }
  const row = (name: string, value: string): void => void out.push(`| ${cell(name)} | ${cell(value)} |`);
  const when = (at: number | null): string => (at === null ? t('never') : age(at, now, locale));
  out.push('| | |', '| --- | --- |');
  // Below that it is all about this machine.
  if (facts.elsewhere !== undefined) {
    const { name, state } = facts.elsewhere;
    const stands = stateWords(state, t).replace(/^\$\([^)]*\) /, '');
    row(t('Searched host'), stands === '' ? name : `${name}: ${stands}`);
  }
  row(t('Search'), status.enabled ? t('enabled') : status.decided ? t('switched off') : t('not decided'));
  row(t('State'), t(phases[status.phase]) + (status.phase === 'indexing' ? ` – ${progressWords(status, t)}` : ''));
  row(t('Sessions'), String(status.sessions));
  row(t('Events'), String(status.events));
  row(t('Index'), bytes(status.indexBytes));
  row(t('Files'), t('{0} read, {1} due, {2} failed', status.filesIndexed, status.filesDue, status.filesFailed));
  row(t('Last look at the disk'), when(status.lastReconcileAt));
  row(t('Last full sweep'), when(status.lastSweepCompletedAt));
  if (facts.historyDays !== undefined) row(t('History'), facts.historyDays === null ? t('everything') : t('{0} days', facts.historyDays));
  row(t('Writes the index'), status.writer === 'this' ? t('this window') : status.writer === 'other' ? t('another process') : t('nobody'));
  if (facts.version !== undefined) row('sessionls', facts.version);
  out.push('');

  if (status.agents.length > 0) {
    out.push(`## ${t('Agents')}`, '', `| ${t('Agent')} | ${t('Sessions')} | ${t('Events')} | ${t('Failed')} | ${t('Folders')} |`, '| --- | ---: | ---: | ---: | --- |');
    for (const a of status.agents) {
      out.push(`| ${cell(a.label)} | ${a.sessions} | ${a.events} | ${a.failed} | ${cell((a.roots ?? []).join(', '))} |`);
    }
    out.push('');
  }
  if (status.degradedRoots.length > 0) {
    out.push(`## ${t('Folders that could not be read')}`, '');
    for (const r of status.degradedRoots) out.push(`- ${cell(r.root === undefined ? r.reason : `${r.root}: ${r.reason}`)}`);
    out.push('');
  }
  if ((status.notices ?? []).length > 0) {
    out.push(`## ${t('Notices')}`, '');
    for (const n of status.notices ?? []) out.push(`- ${cell(n)}`);
    out.push('');
  }
  return out.join('\n');
}

/** Text for a table cell: no markup of its own. */
function cell(text: string): string {
  return oneLine(text, 500).replace(/[\\`*_{}[\]<>|#]/g, '\\$&');
}
