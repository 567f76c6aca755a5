package program

import (
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Version returns which build this is: "v1.2.3 (go1.26.8, linux/amd64)".
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return revision(info) + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

// revision returns the version of the module of a build, or else the commit that it was built from: "0123456789ab of
// 2026-11-20". It begins with "(devel)" if files were changed after that commit, or no commit is known. info may be
// nil.
func revision(info *debug.BuildInfo) string {
	if info == nil {
		return "(devel)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	changed := settings["vcs.modified"] == "true" || strings.HasSuffix(info.Main.Version, "+dirty")
	if v := info.Main.Version; v != "" && v != "(devel)" && !changed {
		return v
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return "(devel)"
	}
	commit = commit[:min(12, len(commit))]
	if at, err := time.Parse(time.RFC3339, settings["vcs.time"]); err == nil {
		commit += " of " + at.UTC().Format(time.DateOnly)
	}
	if changed {
		return "(devel) after " + commit
	}
	return commit
}
