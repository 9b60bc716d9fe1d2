package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sessionls/sessionls/index/transcript"
)

// Blocks are finished where the queue runs (behind.go), one after the other: what was written
// before can be looked up there without waiting, and a transaction that is undone
// undoes all that was noted.
//
// Table seen has an entry for each text of some size: of its hash, the block that it lies
// in or, if it is a body, minus the body's id. An entry is a guess: the text itself
// is compared before anything refers to it, and what does not hold is replaced, as when the
// block was deleted meanwhile. Hostile text can at most hide another from it.
//
// Table borrowed has which session refers to which body in a block that is not its
// own. Bodies of sessions that go move to a block of no session (drop).

// longText is a part of an open block whose text may be kept already.
type longText struct{ at, text, end int }

// rawBlock is a block to be written.
type rawBlock struct {
	session int64
	seq     int
	row     int64
	raw     []byte
	long    []longText
	soon    bool // it will be replaced soon
}

// addParts adds the text of the event that appendEvent has added.
func (w *sessionWriter) addParts(parts []transcript.Part) {
	for _, p := range parts {
		at := len(w.raw)
		w.raw = appendPart(w.raw, p)
		if len(p.Text) >= bodyBytes {
			w.long = append(w.long, longText{at, len(w.raw) - len(p.Text), len(w.raw)})
		}
	}
}

// buffers are those of blocks that were written.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer is the largest that is used again.
const keptBuffer = 4 * blockBytes

// putBlock queues a block, whose memory it takes.
func (t *Tx) putBlock(b rawBlock) error {
	if b.soon {
		b.long = nil
	}
	p, err := t.blockWriters(len(b.long) > 0)
	if err != nil {
		return err
	}
	return t.behind.put(write{size: len(b.raw), run: func() error {
		err := p.write(&b)
		if cap(b.raw) <= keptBuffer {
			b.raw = b.raw[:0]
			buffers.Put(&b.raw)
		}
		return err
	}})
}

// blockWriters prepares what writing blocks needs: nothing can be prepared while the
// queue runs.
func (t *Tx) blockWriters(share bool) (*blockStatements, error) {
	prepare := func(list map[**sql.Stmt]string) error {
		for st, query := range list {
			var err error
			if *st, err = t.prepared(query); err != nil {
				return err
			}
		}
		return nil
	}
	p := &t.blocks
	if p.put == nil {
		if err := prepare(map[**sql.Stmt]string{&p.put: putBlock, &p.next: `SELECT coalesce(max(id), 0) + 1 FROM block`}); err != nil {
			return nil, err
		}
	}
	if share && p.see == nil {
		return p, prepare(map[**sql.Stmt]string{
			&p.see:    `INSERT OR IGNORE INTO seen(hash, place) VALUES(?,?)`,
			&p.seen:   `SELECT place FROM seen WHERE hash = ?`,
			&p.move:   `UPDATE seen SET place = ? WHERE hash = ?`,
			&p.block:  `SELECT session, data FROM block WHERE id = ?`,
			&p.body:   findBody,
			&p.lend:   `INSERT INTO body(block, at, hash) VALUES(?,?,?)`,
			&p.borrow: `INSERT OR IGNORE INTO borrowed(session, body) VALUES(?,?)`,
		})
	}
	return p, nil
}

type blockStatements struct {
	put, next                                  *sql.Stmt
	see, seen, move, block, body, lend, borrow *sql.Stmt

	out    []byte
	opened openHolders
}

// write finishes a block. It runs where the queue does.
func (p *blockStatements) write(b *rawBlock) error {
	var id int64
	if err := p.next.QueryRow().Scan(&id); err != nil {
		return err
	}
	raw := b.raw
	if len(b.long) > 0 {
		var err error
		if raw, err = p.share(b, id); err != nil {
			return err
		}
	}
	pack := compress
	if b.soon {
		pack = compressSoon
	}
	data, err := pack(raw)
	if err != nil {
		return err
	}
	_, err = p.put.Exec(id, b.session, b.seq, b.row, data)
	return err
}

// share replaces the texts of a block that are kept already by references.
func (p *blockStatements) share(b *rawBlock, id int64) ([]byte, error) {
	out, from := p.out[:0], 0
	for _, l := range b.long {
		body, err := p.known(b.session, id, viewString(b.raw[l.text:l.end]))
		if err != nil {
			return nil, err
		}
		if body == 0 {
			continue
		}
		out = append(append(out, b.raw[from:l.at]...), b.raw[l.at]|lentBit)
		out = binary.AppendUvarint(out, uint64(body))
		from = l.end
	}
	if from == 0 {
		return b.raw, nil
	}
	out = append(out, b.raw[from:]...)
	if p.out = out; cap(out) > keptBuffer {
		p.out = nil
	}
	return out, nil
}

// seenKey is what of a hash is kept of a text that nobody shares: it takes five bytes.
func seenKey(hash int64) int64 { return int64(uint64(hash) >> 29) }

// known is the body that a text of a session is, 0 if it is to be kept in the block
// being written.
func (p *blockStatements) known(session, block int64, text string) (int64, error) {
	hash := hashText(text)
	res, err := p.see.Exec(seenKey(hash), block)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return 0, err
	}
	var place int64
	if err := p.seen.QueryRow(seenKey(hash)).Scan(&place); err != nil {
		return 0, err
	}
	var id int64
	var holder *holder
	switch {
	case place == block:
		return 0, nil // compression sees to it
	case place < 0:
		id, holder, err = p.bodyOf(-place, text)
	default:
		id, holder, err = p.newBody(place, hash, text)
	}
	if err != nil {
		return 0, err
	}
	if id == 0 {
		_, err = p.move.Exec(block, seenKey(hash))
		return 0, err
	}
	if holder.session != session {
		_, err = p.borrow.Exec(session, id)
	}
	return id, err
}

// bodyOf is the body, if it has that text.
func (p *blockStatements) bodyOf(id int64, text string) (int64, *holder, error) {
	var b body
	err := p.body.QueryRow(id).Scan(&b.block, &b.at, &b.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	h, err := p.holder(b.block)
	if err != nil || h == nil {
		return 0, nil, err
	}
	if found, err := b.in(h.raw); err != nil || found != text {
		return 0, nil, nil // damage is the business of those who read it
	}
	return id, h, nil
}

// newBody makes a text that a block has a body.
func (p *blockStatements) newBody(block, hash int64, text string) (int64, *holder, error) {
	h, err := p.holder(block)
	if err != nil || h == nil {
		return 0, nil, err
	}
	at := findText(h.raw, text)
	if at < 0 {
		return 0, nil, nil
	}
	res, err := p.lend.Exec(block, at, hash)
	if err != nil {
		return 0, nil, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, nil, fmt.Errorf("keep a text once: %w", err)
	}
	_, err = p.move.Exec(-id, seenKey(hash))
	return id, h, err
}

// findText is where the part with a text lies in a raw block, -1 if it has none.
func findText(raw, text string) int {
	found := -1
	d := decoder{b: raw}
	d.part = func(left int, have string) {
		if found < 0 && have == text {
			found = len(raw) - left
		}
	}
	for len(d.b) > 0 && !d.bad && found < 0 {
		d.event()
	}
	return found
}

// holder is a decoded block with the session that it belongs to, 0 for none.
type holder struct {
	session int64
	raw     string
}

// openHolders are the blocks that were compared with last: a text that many have is
// compared often. Ids of blocks are used again, so they must be forgotten when blocks
// are deleted.
type openHolders struct {
	of    map[int64]*holder
	bytes int
}

// openHolderBytes bounds them.
const openHolderBytes = 1 << 20

func (o *openHolders) forget() { o.of, o.bytes = nil, 0 }

func (o *openHolders) keep(block int64, h *holder) {
	if o.bytes += len(h.raw); o.of == nil || o.bytes > openHolderBytes {
		o.of, o.bytes = map[int64]*holder{}, len(h.raw)
	}
	o.of[block] = h
}

// holder reads a block, nil if there is none or it cannot be read.
func (p *blockStatements) holder(block int64) (*holder, error) {
	if h := p.opened.of[block]; h != nil {
		return h, nil
	}
	h := &holder{}
	var data []byte
	err := p.block.QueryRow(block).Scan(&h.session, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h.raw, err = expandHolder(data); err != nil {
		return nil, nil
	}
	p.opened.keep(block, h)
	return h, nil
}

// dropBodies takes back what a session that is about to lose its blocks has borrowed, and
// moves what others have borrowed from it.
func (t *Tx) dropBodies(session int64) error {
	defer t.blocks.opened.forget()
	held, err := t.bodies(`SELECT id, block, at, hash FROM body WHERE block IN (SELECT id FROM block WHERE session = ?)`, session)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(mapKeys(held)) {
		if err := t.giveAway(id, held[id]); err != nil {
			return err
		}
	}
	// What no session holds, or is lost with its block, and this one alone has.
	alone, err := t.bodies(`SELECT id, block, at, hash FROM borrowed JOIN body ON id = body WHERE session = ?1
		AND coalesce((SELECT session FROM block WHERE id = body.block), 0) = 0 AND NOT EXISTS(SELECT 1 FROM borrowed o WHERE o.body = body.id AND o.session <> ?1)`, session)
	if err != nil {
		return err
	}
	if _, err := t.exec(`DELETE FROM borrowed WHERE session = ?`, session); err != nil {
		return err
	}
	for id, b := range alone {
		if _, err := t.exec(`DELETE FROM block WHERE id = ?`, b.block); err != nil {
			return err
		}
		if err := t.dropBody(id, b); err != nil {
			return err
		}
	}
	return nil
}

// bodies reads a list of bodies.
func (t *Tx) bodies(query string, args ...any) (map[int64]body, error) {
	st, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(args...)
	if err != nil {
		return nil, fmt.Errorf("find a session's texts: %w", err)
	}
	defer rows.Close()
	out := map[int64]body{}
	for rows.Next() {
		var id int64
		var b body
		if err := rows.Scan(&id, &b.block, &b.at, &b.hash); err != nil {
			return nil, fmt.Errorf("find a session's texts: %w", err)
		}
		out[id] = b
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find a session's texts: %w", err)
	}
	return out, nil
}

// dropBody forgets a body whose text goes.
func (t *Tx) dropBody(id int64, b body) error {
	if _, err := t.exec(`DELETE FROM body WHERE id = ?`, id); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM seen WHERE hash = ? AND place = ?`, seenKey(b.hash), -id)
	return err
}

// giveAway moves a body of a session that goes into a block of its own, if another
// session has it.
func (t *Tx) giveAway(id int64, b body) error {
	st, err := t.stmt(`SELECT EXISTS(SELECT 1 FROM borrowed WHERE body = ?)`)
	if err != nil {
		return err
	}
	var needed bool
	if err := st.QueryRow(id).Scan(&needed); err != nil {
		return fmt.Errorf("find a session's texts: %w", err)
	}
	if !needed {
		return t.dropBody(id, b)
	}
	p, err := t.blockWriters(true)
	if err != nil {
		return err
	}
	if err := t.behind.settle(); err != nil {
		return err
	}
	h, err := p.holder(b.block)
	if err != nil {
		return fmt.Errorf("move a text: %w", err)
	}
	if h == nil {
		return t.lose(id, b)
	}
	text, err := b.in(h.raw)
	if err != nil {
		return t.lose(id, b)
	}
	return t.keepApart(id, text)
}

// lose forgets a body that cannot be read: those who refer to it find damage.
func (t *Tx) lose(id int64, b body) error {
	if _, err := t.exec(`DELETE FROM borrowed WHERE body = ?`, id); err != nil {
		return err
	}
	return t.dropBody(id, b)
}

// keepApart writes a body into a block of no session. It is the only one there, so that
// nothing has to be rewritten when it goes.
func (t *Tx) keepApart(id int64, text string) error {
	part := []transcript.Part{{Text: text}}
	raw := appendEvent(nil, &transcript.Event{}, part, 0, 0, 0)
	at := len(raw)
	data, err := compress(appendPart(raw, part[0]))
	if err != nil {
		return err
	}
	res, err := t.exec(putBlock, nil, 0, 0, 0, data)
	if err != nil {
		return err
	}
	block, err := res.LastInsertId()
	if err != nil {
		return fmt.Errorf("move a text: %w", err)
	}
	_, err = t.exec(`UPDATE body SET block = ?, at = ? WHERE id = ?`, block, at, id)
	return err
}

// sweepSeen deletes the entries of texts whose block is gone.
func (w *Writer) sweepSeen(ctx context.Context) error {
	if _, err := w.db.ExecContext(ctx, `DELETE FROM seen WHERE place > 0 AND NOT EXISTS(SELECT 1 FROM block WHERE id = place)`); err != nil {
		return fmt.Errorf("forget texts that are gone: %w", err)
	}
	return nil
}
