package cline

import (
	"context"
	"io"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// bulk are members that are not looked at and may be large.
var bulk = []string{"signature", "reasoning_details", "systemPrompt", "system_prompt"}

// remember notes what a history says, and returns the tasks of which it says something else
// than it did; nil if that is not known.
func (rd *reader) remember(path string, now map[string]hint) map[string]bool {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	old := rd.known[path]
	rd.known[path] = now
	if old == nil {
		return nil
	}
	changed := map[string]bool{}
	for id, h := range now {
		if old[id] != h {
			changed[id] = true
		}
	}
	for id := range old {
		if _, still := now[id]; !still {
			changed[id] = true
		}
	}
	return changed
}

// readHistory reads what the list of tasks says of each, by id. One that is not
// there or is damaged only means that less is known.
func readHistory(ctx context.Context, path string) (map[string]hint, error) {
	known := map[string]hint{}
	f, err := transcript.OpenFile(path)
	if err != nil {
		return known, nil
	}
	defer f.Close()
	_, _ = transcript.ReadArray(ctx, io.LimitReader(f, f.Size), jsonv.DefaultLimits("task"), func(_ int, v jsonv.Value) error {
		h := hint{Model: transcript.CleanWord(v.Get("modelId").Str())}
		for _, key := range []string{"cwdOnTaskInitialization", "workspace", "shadowGitConfigWorkTree"} {
			if h.CWD = transcript.CleanPath(v.Get(key).Str()); h.CWD != "" {
				break
			}
		}
		if id := v.Get("id").Str(); id != "" && h != (hint{}) {
			known[id] = h
		}
		return nil
	})
	return known, ctx.Err()
}
