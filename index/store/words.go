package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sessionls/sessionls/index/vocabulary"
)

// The vocabulary is written in the transaction that writes the rows its words
// stand in, so it always has all of them. What a bulk build adds are words that
// it has not had; while appending, nobody knows all the words there are, so a
// transaction adds all of its own, and chunks of like size are put together
// until they have chunkBytes: a word may come again in another chunk, and a
// hundred thousand words must come before it can.

// chunkBytes is the size up to which chunks of the vocabulary are put together.
const chunkBytes = 1 << 20

// keepWords writes the words that the transaction has added.
func (t *Tx) keepWords() error {
	for _, raw := range t.w.words.Take(chunkBytes) {
		if err := t.keepChunk(raw); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) keepChunk(raw []byte) error {
	var gone []int64
	if !t.w.building() {
		var err error
		if raw, gone, err = t.mergeChunks(raw); err != nil {
			return err
		}
	}
	data, err := compress(raw)
	if err != nil {
		return err
	}
	if _, err := t.exec(`INSERT INTO vocabulary(size, data) VALUES(?,?)`, len(raw), data); err != nil {
		return err
	}
	for _, id := range gone {
		if _, err := t.exec(`DELETE FROM vocabulary WHERE id = ?`, id); err != nil {
			return err
		}
	}
	return nil
}

// mergeChunks puts the last chunks together with a new one as long as they are
// not much larger, so that each word is written a few times only.
func (t *Tx) mergeChunks(raw []byte) (merged []byte, gone []int64, err error) {
	last, err := t.stmt(`SELECT id, size, data FROM vocabulary WHERE id < ? ORDER BY id DESC LIMIT 1`)
	if err != nil {
		return nil, nil, err
	}
	id := int64(1 << 62)
	for {
		var size int
		var data []byte
		err := last.QueryRow(id).Scan(&id, &size, &data)
		if errors.Is(err, sql.ErrNoRows) {
			return raw, gone, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the vocabulary: %w", err)
		}
		if size > 2*len(raw) || size+len(raw) > chunkBytes {
			return raw, gone, nil
		}
		before, err := decodeChunk(data)
		if err != nil {
			return nil, nil, err
		}
		fresh, err := vocabulary.Decode(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("merge the vocabulary: %w", err)
		}
		raw, gone = vocabulary.Merge(before, fresh), append(gone, id)
	}
}

func decodeChunk(data []byte) (*vocabulary.Chunk, error) {
	c, err := codecs()
	if err != nil {
		return nil, err
	}
	raw, err := c.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	chunk, err := vocabulary.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return chunk, nil
}

// renewWords writes the vocabulary anew from the postings, without the
// words that no row has any more.
func (w *Writer) renewWords(ctx context.Context) error {
	err := w.Update(ctx, func(t *Tx) error {
		words := vocabulary.NewSet()
		for _, in := range streams {
			if err := t.terms(ctx, in, words); err != nil {
				return err
			}
		}
		if _, err := t.exec(`DELETE FROM vocabulary`); err != nil {
			return err
		}
		for _, raw := range words.Take(chunkBytes) {
			data, err := compress(raw)
			if err != nil {
				return err
			}
			if _, err := t.exec(`INSERT INTO vocabulary(size, data) VALUES(?,?)`, len(raw), data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("renew the vocabulary: %w", err)
	}
	return nil
}

// terms adds all terms of a stream to a set.
func (t *Tx) terms(ctx context.Context, in Stream, to *vocabulary.Set) error {
	src, err := newPageSource(ctx, t.tx, in)
	if err != nil {
		return err
	}
	defer src.close()
	list, err := segments(ctx, t.tx, in)
	if err != nil {
		return err
	}
	for _, m := range list {
		s, err := openSegment(ctx, t.tx, m.id, src)
		if err == nil {
			err = s.EachTerm(ctx, to.Add)
		}
		if err != nil {
			return fmt.Errorf("list the terms: %w", damaged(err))
		}
	}
	return nil
}

// maxVocabulary bounds the words that are held in memory. An index of 10 GB of
// ordinary transcripts stays far below; words beyond are not proposed.
const maxVocabulary = 128 << 20

// Vocabulary returns the words of the index. The first call reads them all,
// later ones what came since.
func (s *Snapshot) Vocabulary(ctx context.Context) (vocabulary.Vocabulary, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT id, size FROM vocabulary ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("read the vocabulary: %w", err)
	}
	var ids []int64
	for total := 0; rows.Next() && total < maxVocabulary; {
		var id int64
		var size int
		if err := rows.Scan(&id, &size); err != nil {
			return nil, errors.Join(fmt.Errorf("read the vocabulary: %w", err), rows.Close())
		}
		ids = append(ids, id)
		total += size
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("read the vocabulary: %w", err)
	}
	// One search reads, others wait: they need the same.
	s.r.wordsMu.Lock()
	defer s.r.wordsMu.Unlock()
	out := make(vocabulary.Vocabulary, len(ids))
	known := make(map[int64]*vocabulary.Chunk, len(ids))
	for i, id := range ids {
		chunk := s.r.words[id]
		if chunk == nil {
			var data []byte
			if err := s.tx.QueryRowContext(ctx, `SELECT data FROM vocabulary WHERE id = ?`, id).Scan(&data); err != nil {
				return nil, fmt.Errorf("read the vocabulary: %w", err)
			}
			if chunk, err = decodeChunk(data); err != nil {
				return nil, err
			}
		}
		out[i], known[id] = chunk, chunk
	}
	s.r.words = known
	return out, nil
}
