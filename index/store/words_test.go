package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/vocabulary"
)

// wordsOf lists the vocabulary of an index, and how many chunks it has.
func wordsOf(t *testing.T, r *store.Reader) (words []string, chunks int) {
	t.Helper()
	snap, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	v, err := snap.Vocabulary(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v {
		c.Words(func(w []byte) bool { words = append(words, string(w)); return true })
	}
	slices.Sort(words)
	return words, len(v)
}

func has(words []string, want string) bool {
	_, ok := slices.BinarySearch(words, want)
	return ok
}

// TestVocabulary: it has the words of every stream and of the title, also in
// their joined form, as soon as a transaction is done; a reader that was open
// before sees them.
func TestVocabulary(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "a quill and resolveTerminalPath"))
	r := storetest.Open(t, path)
	words, _ := wordsOf(t, r)
	for _, want := range []string{"quill", "resolve", "resolveterminalpath", "session"} {
		if !has(words, want) {
			t.Errorf("%q is not in %v", want, words)
		}
	}
	b := storetest.Talk("b", "a marmot")
	b.Events = append(b.Events, storetest.Say("tool", "basalt 索引"))
	storetest.Build(t, path, b)
	words, _ = wordsOf(t, r)
	for _, want := range []string{"quill", "marmot", "basalt"} {
		if !has(words, want) {
			t.Errorf("later: %q is not in %v", want, words)
		}
	}
	if i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "索=") }); i >= 0 {
		t.Errorf("%q is no word", words[i])
	}
}

// TestVocabularyGrowsSlowly: many small transactions leave few chunks, and a
// word that all of them have stands in few of these.
func TestVocabularyGrowsSlowly(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	for i := range 200 {
		if err := w.Update(context.Background(), func(tx *store.Tx) error {
			return storetest.Write(tx, storetest.Talk(fmt.Sprintf("s%d", i), fmt.Sprintf("common words and unique%dword", i)))
		}); err != nil {
			t.Fatal(err)
		}
	}
	words, chunks := wordsOf(t, storetest.Open(t, path))
	n := 0
	for _, x := range words {
		if x == "common" {
			n++
		}
	}
	if chunks > 12 || n > chunks || !has(words, "unique7word") || !has(words, "unique199word") {
		t.Errorf("%d chunks, the common word %d times, of %d words", chunks, n, len(words))
	}
}

// TestVocabularyOfWhatIsUndone: words of a transaction that failed are added by the
// next that has them.
func TestVocabularyOfWhatIsUndone(t *testing.T) {
	path := storetest.Path(t)
	w := openWriter(t, path)
	w.SetMode(store.Bulk)
	stop := errors.New("stop")
	write := func(fail error) error {
		return w.Update(context.Background(), func(tx *store.Tx) error {
			return errors.Join(storetest.Write(tx, storetest.Talk("a", "a quill")), fail)
		})
	}
	if err := write(stop); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if err := write(nil); err != nil {
		t.Fatal(err)
	}
	if words, _ := wordsOf(t, storetest.Open(t, path)); !has(words, "quill") {
		t.Errorf("words: %v", words)
	}
}

// TestVocabularyForgets: after a scrub the words of what was dropped are gone,
// all others are there.
func TestVocabularyForgets(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "a quill in resolveTerminalPath"), storetest.Talk("b", "a marmot in resolveTerminalPath"))
	w := openWriter(t, path)
	ctx := context.Background()
	if err := w.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Forget("claude", "a")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	words, _ := wordsOf(t, storetest.Open(t, path))
	if has(words, "quill") || !has(words, "marmot") || !has(words, "resolveterminalpath") {
		t.Errorf("words: %v", words)
	}
	near, err := vocabularyOf(t, path).Near(ctx, "marmt", 1)
	if err != nil || len(near) != 1 || near[0].Word != "marmot" {
		t.Errorf("near marmt: %v %v", near, err)
	}
}

func vocabularyOf(t *testing.T, path string) vocabulary.Vocabulary {
	t.Helper()
	snap, err := storetest.Open(t, path).Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	v, err := snap.Vocabulary(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func openWriter(t *testing.T, path string) *store.Writer {
	t.Helper()
	w, err := store.OpenWriter(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
