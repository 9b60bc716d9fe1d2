// How a hit and the state of a search read in a list. Pure.

import type { Evidence, EventHit, Hit, Role, SessionFacts } from '../contract';
import { age, label, oneLine, project, type Translate } from '../words';
import { isLocal, localHost } from '../hosts/host';
import type { Choices, SearchState } from './model';

export interface Surroundings {
  readonly t: Translate;
  readonly now: number;
  readonly locale: string;
  /** An agent's name for people. */
  agentLabel(agent: string): string;
  /** A host's name for people. */
  hostName(host: string): string;
}

/** The texts of a row. Icons are written $(name); what comes from a transcript cannot make one. */
export interface RowText {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

const roleIcon: Record<Role, string> = {
  user: '$(account)',
  assistant: '$(hubot)',
  tool: '$(tools)',
  system: '$(gear)',
  unknown: '$(tag)',
};

export function sessionIcon(s: SessionFacts): string {
  if (s.active) return 'record';
  switch (s.relation) {
    case 'fork':
      return 'repo-forked';
    case 'subagent':
      return 'type-hierarchy-sub';
    default:
      return s.automated ? 'server-process' : 'comment-discussion';
  }
}

/** agent · project · branch · age, as far as known. */
export function sessionDescription(s: SessionFacts, at: Surroundings): string {
  return joined(at.agentLabel(s.agent), label(project(s.cwd), 40), s.branch === null ? '' : label(s.branch, 40), sessionAge(s, at));
}

/** age · project · agent: in a narrow column the age has to come first. What a group has in its name is left out. */
export function shortDescription(s: SessionFacts, at: Surroundings, groupedBy: 'newest' | 'project' | 'agent'): string {
  return joined(sessionAge(s, at), groupedBy === 'project' ? '' : label(project(s.cwd), 40), groupedBy === 'agent' ? '' : at.agentLabel(s.agent));
}

function sessionAge(s: SessionFacts, at: Surroundings): string {
  return age(s.updatedAt ?? s.createdAt, at.now, at.locale);
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' · ');
}

/** The host of a session, if that is another one. */
export function hostOf(s: SessionFacts, at: Surroundings): string {
  const host = s.executionHostId ?? localHost;
  return isLocal(host) ? '' : `$(remote) ${at.hostName(host)}`;
}

export function hitRow(hit: Hit, at: Surroundings): RowText {
  const { t } = at;
  const remarks: string[] = [];
  if (hit.active) remarks.push(t('live'));
  if (hit.relation === 'subagent') remarks.push(t('sub-agent'));
  if (hit.relation === 'fork') remarks.push(t('fork'));
  if (hit.source.presence === 'missing') remarks.push(t('transcript deleted, kept copy'));
  if (hit.matchCount > 1) remarks.push(t('{0} matches', hit.matchCount));
  if (hit.duplicateCount !== undefined && hit.duplicateCount > 0) remarks.push(t('also in {0} copies', hit.duplicateCount));
  return {
    label: `$(${sessionIcon(hit)}) ${label(hit.title, 120)}`,
    description: joined(hostOf(hit, at), sessionDescription(hit, at), ...remarks),
    detail: detailLine(hit, at),
  };
}

function messageCount(s: SessionFacts, at: Surroundings): string {
  return s.messageCount === 1 ? at.t('1 message') : at.t('{0} messages', s.messageCount);
}

function detailLine(hit: Hit, at: Surroundings): string {
  const { evidence } = hit;
  // A match in the title is to be seen in the row already.
  if (evidence === null || evidence.type === 'session/title') return messageCount(hit, at);
  return `${roleIcon[evidence.role]} ${label(unmarked(evidence.snippet, evidence.marks))}`;
}

export function eventRow(hit: EventHit, at: Surroundings): RowText {
  return {
    label: `${roleIcon[hit.role]} ${label(unmarked(hit.snippet, hit.marks), 160)}`,
    description: joined(`#${hit.seq}`, age(hit.time, at.now, at.locale)),
    detail: '',
  };
}

/**
 * The snippet without the brackets around its matches. The marks tell which
 * brackets are ours: text may hold some of its own. A mark's span is what lies
 * between its brackets.
 */
export function unmarked(snippet: string, marks: Evidence['marks']): string {
  let out = '';
  let from = 0;
  for (const [start, end] of marks) {
    out += snippet.slice(from, bracketBefore(snippet, start)) + snippet.slice(start, end);
    from = snippet.startsWith(']]', end) ? end + 2 : end;
  }
  return out + snippet.slice(from);
}

function bracketBefore(snippet: string, start: number): number {
  return snippet.startsWith('[[', start - 2) ? start - 2 : start;
}

/** The matched words as they stand in the text, each once, longest first. */
export function matchedWords(evidence: { readonly snippet: string; readonly marks: Evidence['marks'] }): string[] {
  const words = new Set(evidence.marks.map(([start, end]) => evidence.snippet.slice(start, end)).filter((word) => word.trim() !== ''));
  return [...words].sort((a, b) => b.length - a.length);
}

/** What the list says above its rows: how many there are and what was searched. */
export function summary(state: SearchState, t: Translate): string {
  if (state.total === undefined) return '';
  const { sessions, exact } = state.total;
  if (!exact) return t('{0} sessions or more', sessions);
  return sessions === 1 ? t('1 session') : t('{0} sessions', sessions);
}

/** Every choice in words. */
export function choicesInWords(state: SearchState, at: Surroundings): string {
  const { t } = at;
  const { choices } = state;
  return [
    ...(isLocal(choices.host) ? [] : [at.hostName(choices.host)]),
    choices.scopePaths.length > 0 ? t('this workspace') : t('everywhere'),
    choices.scope === 'conversation' ? t('conversation only') : t('conversation and tool output'),
    choices.agents.length > 0 ? choices.agents.map((a) => at.agentLabel(a)).join(', ') : t('all agents'),
  ].join(' · ');
}

/** The title of the list: short, so only what is not as usual. */
export function titleWords(state: SearchState, at: Surroundings): string {
  const { t } = at;
  const { choices } = state;
  const parts = [isLocal(choices.host) ? (choices.scopePaths.length > 0 ? t('Sessions of this workspace') : t('Agent Sessions')) : elsewhere(choices, at)];
  if (choices.scope === 'conversation') parts.push(t('conversation only'));
  if (choices.sort === 'newest') parts.push(t('newest first'));
  if (choices.agents.length > 0) parts.push(choices.agents.map((a) => at.agentLabel(a)).join(', '));
  const count = summary(state, t);
  return parts.join(' · ') + (count === '' ? '' : ` — ${count}`);
}

function elsewhere(choices: Choices, at: Surroundings): string {
  const host = at.hostName(choices.host);
  return choices.scopePaths.length > 0 ? at.t('Sessions in the paths of this workspace on {0}', host) : at.t('Sessions on {0}', host);
}

/** What the service said about parts of the query. */
export function diagnosticLines(state: SearchState): string[] {
  return state.diagnostics.map((d) => {
    const part = oneLine(state.query.slice(d.start, d.end), 40);
    return part === '' ? oneLine(d.message) : `${part}: ${oneLine(d.message)}`;
  });
}
