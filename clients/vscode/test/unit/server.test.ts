import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backoff } from '../../src/server/backoff';
import { locateBinary, type Surroundings } from '../../src/server/binary';

function at(files: readonly string[], change: Partial<Surroundings> = {}): Surroundings {
  return {
    configured: '', extensionPath: '/ext', searchPath: '/usr/local/bin:relative:/usr/bin', home: '/home/dev', windows: false,
    isExecutable: (file) => Promise.resolve(files.includes(file)), ...change,
  };
}

describe('binary', () => {
  it('prefers the setting, then the packed one, then PATH', async () => {
    const files = ['/opt/s', '/ext/server/sessionls', '/usr/bin/sessionls'];
    assert.deepEqual(await locateBinary(at(files, { configured: '/opt/s' })), { found: true, file: '/opt/s', by: 'setting' });
    assert.deepEqual(await locateBinary(at(files)), { found: true, file: '/ext/server/sessionls', by: 'packed' });
    assert.deepEqual(await locateBinary(at(files.slice(2))), { found: true, file: '/usr/bin/sessionls', by: 'path' });
  });

  it('does not pass over a setting that names nothing', async () => {
    assert.deepEqual(await locateBinary(at(['/ext/server/sessionls'], { configured: ' ~/bin/s ' })), { found: false, reason: 'setting', tried: ['/home/dev/bin/s'] });
  });

  it('looks in no relative folder of PATH and tells where it looked', async () => {
    assert.deepEqual(await locateBinary(at(['relative/sessionls'])), {
      found: false, reason: 'nowhere', tried: ['/ext/server/sessionls', '/usr/local/bin/sessionls', '/usr/bin/sessionls'],
    });
  });
});

describe('back-off', () => {
  it('waits longer each time and gives up', () => {
    const backoff = new Backoff({ first: 100, longest: 300, attempts: 5, window: 10_000 });
    assert.deepEqual([0, 1, 2, 3, 4].map((now) => backoff.ended(now)), [100, 200, 300, 300, undefined]);
  });

  it('forgets what is long ago, and everything when the user asks', () => {
    const backoff = new Backoff({ first: 100, longest: 300, attempts: 2, window: 1000 });
    assert.equal(backoff.ended(0), 100);
    assert.equal(backoff.ended(1000), 100);
    assert.equal(backoff.ended(1001), undefined);
    backoff.reset();
    assert.equal(backoff.ended(1002), 100);
  });
});
