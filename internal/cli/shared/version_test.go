package shared

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRevision(t *testing.T) {
	t.Parallel()
	const commit, at = "0123456789abcdef0123456789abcdef01234567", "2026-11-20T21:59:16Z"
	const pseudo = "v1.2.4-0.20261120215916-0123456789ab"
	tests := map[string]struct {
		version, commit, at, modified string
		want                          string
	}{
		"a released module":           {version: "v1.2.3", want: "v1.2.3"},
		"a clean tree at a tag":       {"v1.2.3", commit, at, "false", "v1.2.3"},
		"a clean tree after a tag":    {pseudo, commit, at, "false", pseudo},
		"a changed tree":              {"v1.2.3+dirty", commit, at, "true", "(devel) after 0123456789ab of 2026-11-20"},
		"a changed tree, no revision": {version: "v1.2.3+dirty", want: "(devel)"},
		"a clean tree, no version":    {"(devel)", commit, at, "false", "0123456789ab of 2026-11-20"},
		"a changed tree, no version":  {"(devel)", commit, at, "true", "(devel) after 0123456789ab of 2026-11-20"},
		"a commit without its time":   {commit: commit, modified: "false", want: "0123456789ab"},
		"a short revision":            {commit: "r12", at: "yesterday", want: "r12"},
		"no version control":          {version: "(devel)", want: "(devel)"},
		"nothing":                     {want: "(devel)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := &debug.BuildInfo{Main: debug.Module{Version: test.version}}
			for _, s := range []debug.BuildSetting{
				{Key: "vcs.revision", Value: test.commit}, {Key: "vcs.time", Value: test.at},
				{Key: "vcs.modified", Value: test.modified},
			} {
				if s.Value != "" {
					info.Settings = append(info.Settings, s)
				}
			}
			assert.Equal(t, test.want, revision(info))
		})
	}
	assert.Equal(t, "(devel)", revision(nil))
}
