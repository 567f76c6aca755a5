package program

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Version returns which build this is: "v1.2.3 (go1.26.8, linux/amd64)".
func Version() string {
	return revision() + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

// revision is the version of the module, or the commit that it was built from.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return cmp.Or(info.Main.Version, "(devel)")
}
