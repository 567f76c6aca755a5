package program

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/reports/html"
)

// fileKind is a kind of file, which its first bytes show.
type fileKind struct {
	schema string // what the key schema of its JSON begins with, for a report; its name for another kind
	is     string // what such a file is
	read   string // what reads it; empty: nothing here
}

// Kinds of files that are no report.
const (
	kindFolder  = "folder"
	kindEmpty   = "empty"
	kindHistory = "history"
	kindLog     = "log"
)

var fileKinds = []fileKind{
	{"fwpcheck/", "the report of a run of fwpcheck", "fwpcheck recheck, compare and site"},
	{"fwpexplore/", "the report of fwpcheck explore", "fwpcheck coverage, and recheck --job"},
	{"fwpbench/", "the report of fwpbench run", "fwpbench compare, merge and shrink"},
	{"fwpmerged/", "the sum of several loads", "fwpbench merge"},
	{"fwpcoverage/", "the sum of fwpcheck coverage", "fwpcheck coverage"},
	{"fwpcheck-jobs/", "what fwpcheck upgrade fill has written", "fwpcheck upgrade account"},
	{kindHistory, "a history of jobs", "fwpcheck recheck"},
	{kindLog, "a log of histograms", "fwpbench merge"},
	{kindFolder, "a folder", ""},
	{kindEmpty, "an empty file", ""},
	{"page", "a page in HTML without a result of fwp", ""},
	{"xml", "a file in XML", ""},
	{"utf-16", "text in UTF-16 (save it as UTF-8)", ""},
	{"binary", "a binary file", ""},
}

// wantedFiles says of the files of a command, or of a flag, what is wanted, and which of the kinds that are known by
// their first bytes may be read.
var wantedFiles = map[string]struct {
	what  string
	kinds []string
}{
	"fwpcheck run":      {"a script", []string{kindFolder, kindEmpty}},
	"fwpcheck fmt":      {"a script", []string{kindFolder, kindEmpty}},
	"fwpcheck lint":     {"a script", []string{kindFolder, kindEmpty}},
	"fwpcheck shrink":   {"a script", []string{kindEmpty}},
	"fwpcheck recheck":  {"a report or a history", []string{"fwpcheck/", kindHistory}},
	"fwpcheck compare":  {"the report of a run of fwpcheck", []string{"fwpcheck/"}},
	"fwpcheck site":     {"the report of a run of fwpcheck", []string{"fwpcheck/"}},
	"fwpcheck coverage": {"the report of a run or an exploration", []string{"fwpcheck/", "fwpexplore/", "fwpcoverage/"}},
	"fwpcheck upgrade":  {"what upgrade fill has written", []string{"fwpcheck-jobs/"}},
	"fwpbench run":      {"a workload", []string{kindEmpty}},
	"fwpbench compare": {
		"reports of fwpbench run or folders of them, and with --run servers and workloads", []string{"fwpbench/", kindFolder},
	},
	"fwpbench merge":  {"the report of fwpbench run, or a log", []string{"fwpbench/", "fwpmerged/", kindLog}},
	"fwpbench shrink": {"the report of fwpbench run", []string{"fwpbench/"}},
	"--config":        {"lines such as url: tcp://localhost:7419", []string{kindEmpty}},
	"--expect":        {"a file of known findings", []string{kindEmpty}},
	"--disrupt":       {"a schedule of disruptions", []string{kindEmpty}},
}

// refuseKinds returns an error if a file that the command line names is known to be of another kind than is wanted: it
// says what the file is, and what reads it.
func refuseKinds(cmd *cobra.Command, args []string) (err error) {
	refuse := func(where, name, prefix string, also ...string) {
		wanted, checked := wantedFiles[where]
		kind := kindOf(name)
		if err != nil || !checked || kind.is == "" || slices.Contains(append(wanted.kinds, also...), kind.schema) {
			return
		}
		err = fmt.Errorf("%s%s: this is %s; expected %s", prefix, name, kind.is, wanted.what)
		if kind.read != "" {
			err = fmt.Errorf("%w; what reads this file: %s", err, kind.read)
		}
	}
	var also []string
	if job := cmd.Flags().Lookup("job"); job != nil && job.Changed { // the life of a job is in more of them
		also = []string{"fwpexplore/", "fwpbench/", kindEmpty}
	}
	for _, name := range args {
		refuse(cmd.Root().Name()+" "+cmd.Name(), name, "", also...)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) { refuse("--"+f.Name, f.Value.String(), "--"+f.Name+" ") })
	return err
}

// schemaIn matches the first key of a report in JSON.
var schemaIn = regexp.MustCompile(`^\s*\{\s*"schema":\s*"([^"]*)"`)

// kindOf returns the kind of a file, the zero value if its first bytes do not say. It reads nothing from a pipe or a
// device.
func kindOf(name string) fileKind {
	switch info, err := os.Stat(name); {
	case err != nil:
		return fileKind{} // what reads it says why
	case info.IsDir():
		return kindNamed(kindFolder)
	case !info.Mode().IsRegular():
		return fileKind{}
	}
	file, err := input.Open(name)
	if err != nil {
		return fileKind{}
	}
	defer func() { _ = file.Close() }() // it was only read
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(file, head) // most files are longer; one that cannot be read begins with nothing
	head = head[:n]
	start := string(bytes.TrimSpace(head))
	if strings.HasPrefix(start, "<!DOCTYPE html>") || strings.HasPrefix(start, "<html") {
		page, err := input.Read(name, mostOfReport)
		if err == nil {
			page, err = html.Data(page)
		}
		if err != nil {
			return kindNamed("page")
		}
		head = page[:min(len(page), headBytes)]
	}
	return kindFrom(head)
}

// headBytes is how many bytes of a file say its kind.
const headBytes = 512

// kindFrom returns the kind of a file that begins so.
func kindFrom(head []byte) fileKind {
	start := string(bytes.TrimSpace(head))
	if schema := schemaIn.FindStringSubmatch(start); schema != nil {
		return kindNamed(schema[1])
	}
	for begins, kind := range map[string]string{
		`{"fwp_history"`: kindHistory, "#[": kindLog, "<?xml": "xml", "\xff\xfe": "utf-16", "\xfe\xff": "utf-16",
	} {
		if strings.HasPrefix(start, begins) {
			return kindNamed(kind)
		}
	}
	switch {
	case start == "":
		return kindNamed(kindEmpty)
	case bytes.IndexByte(head, 0) >= 0:
		return kindNamed("binary")
	}
	return fileKind{}
}

// kindNamed returns the kind with this name or schema.
func kindNamed(schema string) fileKind {
	at := slices.IndexFunc(fileKinds, func(k fileKind) bool {
		return k.schema == schema || strings.HasSuffix(k.schema, "/") && strings.HasPrefix(schema, k.schema)
	})
	if at < 0 {
		return fileKind{is: fmt.Sprintf("a report of another kind (%q)", schema)}
	}
	return fileKinds[at]
}
