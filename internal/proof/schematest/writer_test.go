package schematest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// schema is the part of JSON Schema that the schemas use.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Const       string             `json:"const,omitempty"`
	Type        string             `json:"type,omitempty"`
	Format      string             `json:"format,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Additional  *schema            `json:"additionalProperties,omitempty"`
	Defs        map[string]*schema `json:"$defs,omitempty"`
}

// schemaOf compares the schema of a type in a file with the type and its comments, or writes it there with -update.
func schemaOf(t *testing.T, file, title, version string, typ reflect.Type, sources ...string) {
	t.Helper()
	w := schemaWriter{defs: map[string]*schema{}, docs: docsOf(t, sources...)}
	root := w.object(typ)
	root.Dialect, root.Title, root.Defs = "https://json-schema.org/draft/2020-12/schema", title, w.defs
	if property := root.Properties["schema"]; property != nil {
		property.Const = version
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(root))
	golden.File(t, file, out.String())
}

// readSchema returns the schema in a file.
func readSchema(t *testing.T, file string) *schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	require.NoError(t, err)
	root := new(schema)
	require.NoError(t, json.Unmarshal(text, root))
	return root
}

// breachesOf returns where JSON is not as the schema has it.
func (s *schema) breachesOf(t *testing.T, data []byte) []string {
	t.Helper()
	var tree any
	require.NoError(t, json.Unmarshal(data, &tree))
	return s.breaches(s, "$", tree)
}

// breaches tells where v is not as s wants it. Keys that s does not have are told too, though the schema allows them.
func (s *schema) breaches(root *schema, at string, v any) []string {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].breaches(root, at, v)
	}
	if s.Const != "" && v != s.Const {
		return []string{fmt.Sprintf("%s is %v, want %s", at, v, s.Const)}
	}
	if got := typeOf(v); s.Type != "" && got != s.Type && (got != "integer" || s.Type != "number") {
		return []string{fmt.Sprintf("%s is of type %s, want %s", at, got, s.Type)}
	}
	var list []string
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			list = append(list, s.Items.breaches(root, fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case map[string]any:
		if s.Properties == nil {
			for key, value := range v {
				list = append(list, s.Additional.breaches(root, at+"."+key, value)...)
			}
			return list
		}
		for _, key := range s.Required {
			if _, ok := v[key]; !ok {
				list = append(list, at+" lacks "+key)
			}
		}
		for key, value := range v {
			if property := s.Properties[key]; property == nil {
				list = append(list, at+" has unknown key "+key)
			} else {
				list = append(list, property.breaches(root, at+"."+key, value)...)
			}
		}
	}
	return list
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// schemaWriter makes a schema of Go types.
type schemaWriter struct {
	defs map[string]*schema
	docs map[string]string // by "Type" and "Type.Field"
}

func (w *schemaWriter) object(t reflect.Type) *schema {
	s := &schema{Type: "object", Description: w.docs[t.Name()], Properties: map[string]*schema{}}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		if field.Anonymous {
			inner := w.object(field.Type)
			maps.Copy(s.Properties, inner.Properties)
			s.Required = append(s.Required, inner.Required...)
			continue
		}
		property := w.typeSchema(field.Type)
		if strings.Contains(options, "string") {
			property = &schema{Type: "string", Pattern: "^[0-9]+$"}
		}
		if doc := w.docs[t.Name()+"."+field.Name]; doc != "" {
			property.Description = doc
		}
		s.Properties[name] = property
		if !strings.Contains(options, "omit") {
			s.Required = append(s.Required, name)
		}
	}
	slices.Sort(s.Required)
	return s
}

func (w *schemaWriter) typeSchema(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &schema{}
	case reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return &schema{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Map:
		return &schema{Type: "object", Additional: w.typeSchema(t.Elem())}
	case reflect.Struct:
		if w.defs[t.Name()] == nil {
			w.defs[t.Name()] = &schema{}
			*w.defs[t.Name()] = *w.object(t)
		}
		return &schema{Ref: "#/$defs/" + t.Name()}
	case reflect.Pointer:
		return w.typeSchema(t.Elem())
	case reflect.Slice:
		return &schema{Type: "array", Items: w.typeSchema(t.Elem())}
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Float64:
		return &schema{Type: "number"}
	default:
		return &schema{Type: "integer"}
	}
}

// docsOf reads the comments of types and fields.
func docsOf(t *testing.T, files ...string) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Clean(name), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			spec := group.Specs[0].(*ast.TypeSpec)
			docs[spec.Name.Name] = description(group.Doc)
			if body, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range body.Fields.List {
					for _, fieldName := range field.Names {
						docs[spec.Name.Name+"."+fieldName.Name] = description(field.Doc) + description(field.Comment)
					}
				}
			}
		}
	}
	return docs
}

// description returns the first paragraph of a comment, on one line.
func description(c *ast.CommentGroup) string {
	paragraph, _, _ := strings.Cut(c.Text(), "\n\n")
	return text.OneLine(paragraph)
}
