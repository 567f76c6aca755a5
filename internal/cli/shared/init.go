package shared

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// initialFiles has the files that init writes.
//
//go:embed initial
var initialFiles embed.FS

// ciFiles are where the services look for their files, and the names of those in initial.
var ciFiles = map[string][2]string{
	"github":  {filepath.Join(".github", "workflows", "fwpcheck.yml"), "github.yml"},
	"gitlab":  {".gitlab-ci.yml", "gitlab.yml"},
	"jenkins": {"Jenkinsfile", "Jenkinsfile"},
}

type initOptions struct {
	url, start string
	ci         OneOf
	force      bool
}

// NewInit builds `fwpcheck init`.
func NewInit(p Process) *cobra.Command {
	o := &initOptions{ci: NewOneOf("none", "github", "gitlab", "jenkins")}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write the files for `fwpcheck run` here and in CI",
		Long: "init writes " + configName + ", with which `fwpcheck run` needs no flags in this folder, an empty list of\n" +
			"known findings, fwpcheck.expect, and the file of a CI service. A file that exists stays, and none is\n" +
			"written then, unless --force is given.",
		Example: "  fwpcheck init --start './my-server --port {port} --password {password} --data {dir}' --ci github\n" +
			"  fwpcheck run                    # what is wrong\n" +
			"  fwpcheck run --update-expect    # lists what you accept for now: then run fails for new findings only",
		Args: NoArguments,
		RunE: func(*cobra.Command, []string) error { return p.init(o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.start, "start", "", "the server is started with the shell `COMMAND`, as by run")
	f.StringVar(&o.url, "url", "", "the server is at `URL`")
	f.Var(&o.ci, "ci", "also write the file of this CI service")
	f.BoolVar(&o.force, "force", false, "overwrite existing files")
	return cmd
}

// init writes the files.
func (p Process) init(o *initOptions) error {
	server := "# start: ./my-server --port {port} --password {password} --data {dir}"
	switch {
	case o.url != "" && o.start != "":
		return errors.New("--start and --url each name a server: give one of them")
	case o.start != "":
		server = "start: " + strconv.Quote(o.start)
	case o.url != "":
		server = "url: " + strconv.Quote(o.url)
	}
	serverFlag := "" // the server, where the file does not
	if strings.HasPrefix(server, "#") {
		serverFlag = ` ${FAKTORY_URL:+--url "$FAKTORY_URL"}`
	}
	sources := map[string]string{configName: configName, "fwpcheck.expect": "fwpcheck.expect"}
	names := []string{configName, "fwpcheck.expect"}
	if ci, ok := ciFiles[o.ci.String()]; ok {
		names, sources[ci[0]] = append(names, ci[0]), ci[1]
	}
	for _, name := range names {
		if _, err := os.Lstat(name); !o.force && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists, so nothing was written: --force overwrites it", name)
		}
	}
	for _, name := range names {
		source, err := initialFiles.ReadFile("initial/" + sources[name])
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o755) //nolint:gosec // the folder of a workflow is no secret
		}
		if err == nil {
			replacer := strings.NewReplacer("SERVER\n", server+"\n", "@latest run", "@latest run"+serverFlag)
			source = []byte(replacer.Replace(string(source)))
			err = ReplaceFile(name, WriteBytes(source))
		}
		if err != nil {
			return &InternalError{Cause: err}
		}
	}
	return p.Print(fmt.Sprintf("written: %s\nnext: %s\n", strings.Join(names, ", "), nextStep(server)))
}

// nextStep says what to do with the files.
func nextStep(server string) string {
	if strings.HasPrefix(server, "#") {
		return "write your server into " + configName + "; until then fwpcheck run tests the embedded server"
	}
	return "fwpcheck run; then fwpcheck run --update-expect lists the findings that you accept for now"
}
