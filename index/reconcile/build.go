package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/index/store"
)

// A first build reads many sources in one transaction. The first batches are
// small, so that something can be found after the first second.
const (
	firstBatch = 256 << 10
	maxBatch   = 32 << 20
	maxFiles   = 2000

	// A build is worth the bulk mode, and merging the postings
	// afterwards, from this size on.
	bulkFiles = 200
	bulkBytes = 16 << 20
)

// A large build goes through the older transcripts twice: first for what was said, a tenth of
// the text and most of what is looked for, then for everything. At 1 GB what was said can so be
// found in a fifth of the time, and everything a fifth later than if it were read once.
const (
	// wholeBytes and talkBytes are the defaults of Config.
	wholeBytes = 64 << 20
	talkBytes  = 192 << 20
	// talkBatch is as much work as maxBatch.
	talkBatch = 4 * maxBatch
	// talkTenths is about which part of the work is done once what was said is read.
	talkTenths = 2
)

// unread reports whether nothing of a source was read before, or only what was said.
func (d *due) unread() bool { return d.known == nil || d.saidOnly() }

// saidOnly reports whether the tools' text of a source is still to be read.
func (d *due) saidOnly() bool {
	return d.known != nil && d.known.version == store.TalkOnly
}

// worthBuilding reports whether so much was never read that it is worth the bulk mode.
// Merging then costs as much as the whole index is large, so it must be much in comparison.
func (p *pass) worthBuilding() bool {
	files := 0
	var never, known int64
	for _, d := range p.due {
		if d.unread() {
			files++
			never += max(d.Size, 0)
		}
	}
	for _, k := range p.known {
		known += max(k.size, 0)
	}
	return (files >= bulkFiles || never >= bulkBytes) && never >= known/4
}

// build reads sources that were not read before, the first of the list first.
func (p *pass) build(ctx context.Context, list []*due) error {
	if err := p.mayGoOn(ctx); err != nil {
		return err
	}
	defer p.w.SetMode(store.Live)
	p.w.SetMode(store.Bulk)
	newest, older := cutBytes(list, cmp.Or(p.cfg.WholeBytes, wholeBytes))
	if sizeOf(older) < cmp.Or(p.cfg.TalkBytes, talkBytes) {
		newest, older = list, nil
	}
	if err := p.readMany(ctx, newest, firstBatch, maxBatch); err != nil {
		return err
	}
	if len(older) > 0 {
		if err := p.readTalk(ctx, older); err != nil {
			return err
		}
		if err := p.readMany(ctx, p.stillDue(older), maxBatch, maxBatch); err != nil {
			return err
		}
	}
	return p.w.Finish(ctx)
}

// readTalk reads what was said.
func (p *pass) readTalk(ctx context.Context, list []*due) error {
	p.talking = true
	p.w.SetMode(store.TalkFirst)
	defer func() {
		p.talking = false
		p.w.SetMode(store.Bulk)
	}()
	var fresh []*due
	for _, d := range list {
		if d.saidOnly() {
			d.partial = d.known.id
			d.counted = d.talkShare()
			p.progress.BytesDone += d.counted
		} else {
			fresh = append(fresh, d)
		}
	}
	if err := p.readMany(ctx, fresh, maxBatch, talkBatch); err != nil {
		return err
	}
	for _, d := range fresh {
		if d.partial == 0 {
			continue
		}
		err := p.w.KnownByID(ctx, d.partial, func(s store.Known) error {
			d.known = p.asKnown(s)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stillDue are the sources of which only what was said is read.
func (p *pass) stillDue(list []*due) []*due {
	var out []*due
	for _, d := range list {
		if d.partial != 0 {
			out = append(out, d)
		}
	}
	return out
}

// talkShare is how many of a source's bytes count as done once what was said is read.
func (d *due) talkShare() int64 { return max(d.Size, 0) / 10 * talkTenths }

// cutBytes splits a list behind the first so many bytes, but not before the second source.
func cutBytes(list []*due, bytes int64) (first, rest []*due) {
	for i, d := range list {
		if bytes -= max(d.Size, 0); bytes < 0 && i > 0 {
			return list[:i], list[i:]
		}
	}
	return list, nil
}

func sizeOf(list []*due) (bytes int64) {
	for _, d := range list {
		bytes += max(d.Size, 0)
	}
	return bytes
}

// readMany reads sources in batches, which grow from one size to another.
func (p *pass) readMany(ctx context.Context, list []*due, limit, most int64) error {
	for len(list) > 0 {
		n, bytes := 0, int64(0)
		for n < len(list) && n < maxFiles && (n == 0 || bytes+list[n].Size <= limit) {
			bytes += max(list[n].Size, 0)
			n++
		}
		if err := p.readBatch(ctx, list[:n]); err != nil {
			return err
		}
		list = list[n:]
		limit = min(limit*4, most)
	}
	return nil
}

// errUndo takes back the transaction it is returned in.
var errUndo = errors.New("taken back")

// readBatch reads sources of which nothing was read before, or only what was said, in one
// transaction.
func (p *pass) readBatch(ctx context.Context, list []*due) error {
	at, result, steads, again := p.progress, p.result, p.steads, p.again
	err := p.update(ctx, func(t *store.Tx) error {
		for _, d := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			a := &attempt{p: p, t: t, d: d}
			if err := a.run(ctx, nil); err != nil {
				return err
			}
			if a.vain {
				return errUndo
			}
			if a.failure != nil || a.reread || a.gone {
				if d.saidOnly() {
					return errUndo // what was said is kept
				}
				if err := a.abort(); err != nil {
					return fmt.Errorf("%w: %w", errUndo, err)
				}
			}
			p.done(a)
		}
		return nil
	})
	if err == nil || ctx.Err() != nil || store.IsFault(err) || !errors.Is(err, errUndo) {
		return err
	}
	// One of them could not be taken back alone.
	p.progress, p.result, p.steads, p.again = at, result, steads, again
	for _, d := range list {
		if err := p.readOne(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
