package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version says what this program is. With --json it is printed as it is.
type Version struct {
	// Version is the release, "dev" outside one.
	Version string `json:"version"`
	// Commit is the source's revision, "" if unknown; Modified tells that the
	// source had changes on top of it.
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	// Time is when the commit was made, "" if unknown.
	Time string `json:"time"`
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// SQLite is the version of the library linked in; FTS5 tells that its full-text
	// index is in it.
	SQLite string `json:"sqlite"`
	FTS5   bool   `json:"fts5"`
}

// NewVersion completes what the linker was told with what the toolchain recorded.
func NewVersion(version, commit, sqlite string, fts5 bool) Version {
	v := Version{
		Version: version, Commit: commit, SQLite: sqlite, FTS5: fts5,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version // set by go install module@version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && v.Commit == "":
				v.Commit = s.Value
			case s.Key == "vcs.modified":
				v.Modified = s.Value == "true"
			case s.Key == "vcs.time":
				v.Time = s.Value
			}
		}
	}
	if v.Version == "" {
		v.Version = "dev"
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell the versions of sessionls, Go and SQLite",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := a.opts.Version
			if a.asJSON {
				return a.printValue(v)
			}
			commit := v.Commit
			if commit == "" {
				commit = "unknown"
			}
			if v.Modified {
				commit += " (modified)"
			}
			fts5 := "off"
			if v.FTS5 {
				fts5 = "on"
			}
			a.screen.line(span{"sessionls " + v.Version, bold})
			for _, row := range [][2]string{
				{"commit", commit}, {"go", v.Go + " " + v.OS + "/" + v.Arch}, {"sqlite", v.SQLite + ", FTS5 " + fts5},
			} {
				a.screen.line(span{pad(row[0], 8), dim}, span{text: row[1]})
			}
			return nil
		},
	}
	return a.jsonFlag(cmd)
}
