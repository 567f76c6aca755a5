package yaml_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	baseyaml "github.com/fwpsuite/fwp/internal/base/yaml"
)

func shape() baseyaml.Shape {
	return baseyaml.Shape{Kind: yaml.MappingNode, Expected: "lines", Do: "write lines", SingleDocument: "one of it"}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"- a":     `f.yaml:1:1: this is a sequence; expected lines; write lines`,
		"word":    `f.yaml:1:1: this is "word"; expected lines; write lines`,
		"a: \xff": `f.yaml:1:1: the file is not UTF-8; expected lines; is it the right file?`,
		"a: 1\n---\nb: " +
			"2": `f.yaml:2:1: the file has a second YAML document; expected one of it; remove what follows ---`,
		"a: 1\nb: [":                  `f.yaml:2:1: invalid YAML: `,
		strings.Repeat("# \n", 1<<19): `f.yaml:1:1: the file is too large; expected 1 MiB or less; is it the right file?`,
	} {
		p := baseyaml.Problems{File: "f.yaml"}
		p.Root([]byte(source), shape())
		require.Error(t, p.Err(), "%.20q", source)
		assert.True(t, strings.HasPrefix(p.Err().Error(), want), p.Err())
	}
	for source, kind := range map[string]yaml.Kind{"a: 1": yaml.MappingNode, "~": yaml.ScalarNode} {
		p := baseyaml.Problems{File: "f.yaml"}
		assert.Equal(t, kind, p.Root([]byte(source), shape()).Kind)
		assert.NoError(t, p.Err())
	}
	p := baseyaml.Problems{File: "f.yaml"}
	assert.Nil(t, p.Root(nil, shape()), "an empty file is no mistake here")
	assert.NoError(t, p.Err())
}

func TestProblemsAreInTheOrderOfTheirPlaces(t *testing.T) {
	t.Parallel()
	p := baseyaml.Problems{File: "f.yaml"}
	for _, at := range []baseyaml.Place{{3, 1}, {2, 9}, {2, 1}, {}} {
		p.Report(at, &baseyaml.Problem{Key: "k", Description: "w", Expected: "e", Do: "d"})
	}
	assert.EqualError(t, p.Err(), "f.yaml:1:1: k: w; expected e; d\nf.yaml:2:1: k: w; expected e; d\n"+
		"f.yaml:2:9: k: w; expected e; d\nf.yaml:3:1: k: w; expected e; d")
	for range 200 {
		p.Report(baseyaml.Place{}, &baseyaml.Problem{})
	}
	assert.True(t, p.IsFull())
	assert.Len(t, strings.Split(p.Err().Error(), "\n"), 100)
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte("a: &x {}\nb: [1]\nc: \nd: word\ne: *x\n"), &document))
	var kinds []string
	for i, n := range document.Content[0].Content {
		if i%2 == 1 {
			kinds = append(kinds, baseyaml.KindOf(baseyaml.Resolve(n)))
		}
	}
	assert.Equal(t, []string{"a mapping", "a sequence", "nothing", `"word"`, "a mapping"}, kinds)
}
