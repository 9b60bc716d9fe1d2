package index

import (
	"os"
	"path/filepath"
	"testing"
)

// The user's files may hold anything; reading them ends in a value or an error.
func FuzzOwnFiles(f *testing.F) {
	f.Add([]byte(ConfigText))
	f.Add([]byte("exclude = ['~/x', '**/y']\n[roots]\nclaude = ['/a', 'b']\n[hosts.x]\nssh = 'y'"))
	f.Add([]byte(`{"enabled":true,"historyDays":30}`))
	f.Add([]byte("\xff\xfe\x00[[roots]]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, _, _, err := loadConfig(path, "/home/me", []string{"claude", "codex"})
		if err == nil {
			for agent, roots := range cfg.Roots {
				for _, root := range roots {
					if !filepath.IsAbs(root) {
						t.Errorf("root %q of %s is not absolute", root, agent)
					}
				}
			}
		}
		if policy, err := readPolicy(path); err != nil && policy.Allows() {
			t.Error("a policy that cannot be read allows reading")
		}
	})
}
