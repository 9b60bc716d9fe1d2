package cline

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// maxMetadata bounds the file that tells a task's models, in bytes.
const maxMetadata = 16 << 20

// task begins the reading of one.
func (b *builder) task(path string) {
	var h hint
	_ = json.Unmarshal([]byte(b.src.Hint), &h) // an empty one only means that less is known
	b.h.SawCWD(h.CWD)
	if strings.Contains(path, storageFolder) {
		b.h.Entrypoint = "ide"
	}
	v := jsonv.Parse(transcript.ReadSmall(filepath.Join(filepath.Dir(path), metadataFile), maxMetadata))
	v.Get("model_usage").Elems(func(_ int, u jsonv.Value) bool {
		b.h.SawModel(transcript.CleanWord(u.Get("model_id").Str()))
		return true
	})
	if b.h.Model == "" {
		b.h.SawModel(h.Model)
	}
}

// sent reads a task of which only what the model was sent is left. It has no times
// but in newer releases; the task's own is in its name.
func (b *builder) sent(f *transcript.File, path string) error {
	b.h.Format = formatSent
	b.task(path)
	b.h.SawTime(transcript.ParseTime(jsonv.Parse([]byte(b.src.SessionID))), b.env.Time())
	return b.array(io.LimitReader(f, f.Size), func(_ int, v jsonv.Value) error { return b.message(v) })
}
