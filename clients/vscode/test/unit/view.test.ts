import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Header } from '../../src/contract';
import { arrange, type Node } from '../../src/view/model';
import { header } from './samples';

/** A tree as text: a(b c(d)). */
function text(nodes: readonly Node[]): string {
  return nodes
    .map((n) => {
      const name = n.kind === 'group' ? `[${n.name}]` : n.session.sessionId;
      return n.children.length === 0 ? name : `${name}(${text(n.children)})`;
    })
    .join(' ');
}

const child = (id: string, parent: string | null, change: Partial<Header> = {}): Header => header(id, { parentSessionId: parent, relation: 'subagent', ...change });

describe('view', () => {
  it('nests below the parent and keeps the order', () => {
    const list = [child('d', 'c'), header('a'), child('b', 'a'), child('c', 'a'), header('e')];
    assert.equal(text(arrange(list, 'newest')), 'a(b c(d)) e');
  });

  it('loses no session: an unknown parent, another agent of that id, a cycle', () => {
    assert.equal(text(arrange([child('b', 'gone')], 'newest')), 'b');
    assert.equal(text(arrange([header('a'), child('b', 'a', { agent: 'pi' })], 'newest')), 'a b');
    assert.equal(text(arrange([child('a', 'b'), child('b', 'a'), child('c', 'a')], 'newest')), 'a(c) b');
    assert.equal(text(arrange([child('a', 'a')], 'newest')), 'a');
  });

  it('groups by project and by agent, the newest group first', () => {
    const list = [header('a', { cwd: '/x/tide' }), header('b', { cwd: null, agent: 'pi' }), header('c', { cwd: 'C:\\y\\tide' }), child('d', 'a')];
    assert.equal(text(arrange(list, 'project')), '[tide](a(d) c) [](b)');
    assert.equal(text(arrange(list, 'agent')), '[claude](a(d) c) [pi](b)');
  });
});
