package cline

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// Concerns implements transcript.Locator: the files of sessions and tasks, the
// history of tasks, and the folders on the way to them.
func (*reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	on := transcript.Below(root.Path, path)
	switch root.Kind {
	case kindSessions:
		return len(on) < 2 || len(on) == 2 && strings.HasSuffix(on[1], ".json")
	case kindUser:
		return concernsUser(on)
	}
	return concernsStorage(on)
}

func concernsUser(on []string) bool {
	if len(on) == 0 {
		return true
	}
	switch on[0] {
	case storageFolder:
		return len(on) == 1 || isExtension(on[1]) && concernsStorage(on[2:])
	case profilesFolder:
		return len(on) <= 2 || on[2] != profilesFolder && concernsUser(on[2:])
	}
	return false
}

func concernsStorage(on []string) bool {
	if len(on) == 0 {
		return true
	}
	switch on[0] {
	case tasksFolder:
		return len(on) <= 2 || len(on) == 3 && slices.Contains([]string{shownFile, oldShownFile, sentFile, metadataFile}, on[2])
	case stateFolder:
		return len(on) == 1 || len(on) == 2 && on[1] == historyFile
	}
	return false
}

// Locate implements transcript.Locator. The files of a session, and those of a task, are read
// together. Of a history those tasks are looked at of which it says something new.
func (rd *reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	on := transcript.Below(root.Path, path)
	at := root.Path
	if root.Kind == kindSessions {
		if len(on) > 1 {
			path = filepath.Dir(path)
		}
		return transcript.LocateBelow(ctx, rd, env, root, path)
	}
	if root.Kind == kindUser {
		for len(on) > 1 && on[0] == profilesFolder {
			at, on = filepath.Join(at, on[0], on[1]), on[2:]
		}
		if len(on) > 2 {
			at, on = filepath.Join(at, on[0], on[1]), on[2:]
		} else {
			on = nil
		}
	}
	switch {
	case len(on) == 0:
	case on[0] == stateFolder:
		return rd.locateHistory(ctx, env, root, at)
	case on[0] == tasksFolder && len(on) > 2:
		path = filepath.Join(at, on[0], on[1])
	}
	return transcript.LocateBelow(ctx, rd, env, root, path)
}

// maxChanged is how many tasks are looked at one by one.
const maxChanged = 8

func (rd *reader) locateHistory(ctx context.Context, env transcript.Env, root transcript.Root, storage string) (transcript.Located, error) {
	path, tasks := filepath.Join(storage, stateFolder, historyFile), filepath.Join(storage, tasksFolder)
	known, err := readHistory(ctx, path)
	if err != nil {
		return transcript.Located{}, err
	}
	changed := rd.remember(path, known)
	if changed == nil || len(changed) > maxChanged {
		return transcript.LocateBelow(ctx, rd, env, root, tasks)
	}
	var all transcript.Located
	for id := range changed {
		if filepath.Base(id) != id {
			continue // no name of a folder
		}
		loc, err := transcript.LocateBelow(ctx, rd, env, root, filepath.Join(tasks, id))
		if err != nil {
			return transcript.Located{}, err
		}
		all.Sources = append(all.Sources, loc.Sources...)
	}
	return all, nil
}

// Folders implements transcript.Locator: the history of tasks lies in a folder of
// its own.
func (*reader) Folders(_ transcript.Env, root transcript.Root, src transcript.Source) []string {
	if root.Kind == kindSessions || src.Path == "" {
		return nil
	}
	storage := filepath.Dir(filepath.Dir(filepath.Dir(src.Path)))
	return []string{filepath.Join(storage, stateFolder)}
}
