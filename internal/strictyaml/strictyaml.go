// Package strictyaml reads YAML into structs with JSON tags, refuses what the
// struct does not know, and remembers where each value stood, so that later
// faults can be reported with file, line and column.
//
// It reads one document of plain YAML: aliases, merge keys, duplicate keys and
// keys that are no text are refused.
package strictyaml

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/bursar-dev/bursar/policy"
)

// Document remembers where the values of a file stood.
type Document struct {
	file  string
	lines []string
	nodes map[string]*yaml.Node
}

// Decode reads source into the struct that into points to. Scalars are read
// into string fields as they are written. The faults are policy.LoadErrors.
func Decode(file string, source []byte, into any) (*Document, error) {
	d := &Document{file: file, lines: strings.Split(string(source), "\n"), nodes: map[string]*yaml.Node{}}
	root, err := d.parse(source)
	if err != nil {
		return nil, err
	}
	w := walker{doc: d}
	value := w.walk(root, reflect.TypeOf(into).Elem(), "")
	if len(w.faults) > 0 {
		return nil, w.faults
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, policy.LoadErrors{{File: file, Text: err.Error()}}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return nil, policy.LoadErrors{d.explain(err)}
	}
	return d, nil
}

func (d *Document) parse(source []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, policy.LoadErrors{{File: d.file, Text: "the file is empty"}}
		}
		return nil, policy.LoadErrors{d.broken(err)}
	}
	if isEmpty(&doc) {
		return nil, policy.LoadErrors{{File: d.file, Text: "the file is empty"}}
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) && !isEmpty(&more) {
		return nil, policy.LoadErrors{{File: d.file, Text: "holds more than one document"}}
	}
	return doc.Content[0], nil
}

// isEmpty reports a document in which there is nothing.
func isEmpty(doc *yaml.Node) bool {
	return doc.Kind == yaml.DocumentNode && doc.Content[0].Tag == "!!null"
}

var syntaxError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// broken gives a syntax error its line, and what to write where that is usual.
func (d *Document) broken(err error) policy.LoadError {
	e := policy.LoadError{File: d.file, Text: strings.TrimPrefix(err.Error(), "yaml: ")}
	if found := syntaxError.FindStringSubmatch(err.Error()); found != nil {
		e.Line, _ = strconv.Atoi(found[1])
		e.Text = found[2]
	}
	switch {
	case strings.HasPrefix(e.Text, "mapping values are not allowed"):
		e.Text += `: put a value with ": " in it into quotes or, of several lines, after a |, and check the indentation`
	case strings.HasPrefix(e.Text, "found character that cannot start any token"):
		e.Text += ": indent with blanks, not with a tab, and put a value that begins with @, ` or % into quotes"
	}
	return e
}

// explain gives a decoding error the place of its field.
func (d *Document) explain(err error) policy.LoadError {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		e := d.At(jsonPath(wrong.Field))
		e.Text = fmt.Sprintf("want %s, have %s", wrong.Type, wrong.Value)
		return e
	}
	return policy.LoadError{File: d.file, Text: strings.TrimPrefix(err.Error(), "json: ")}
}

// jsonPath writes a.0.b as a[0].b.
func jsonPath(field string) string {
	var b strings.Builder
	for i, part := range strings.Split(field, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			fmt.Fprintf(&b, "[%s]", part)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}

// At is the place of a value, as an error without text. The nearest value
// above stands for one that is not there.
func (d *Document) At(path string) policy.LoadError {
	e := policy.LoadError{File: d.file, Path: path}
	for {
		if node, ok := d.nodes[path]; ok {
			e.Line, e.Column = node.Line, node.Column
			return e
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut <= 0 {
			return e
		}
		path = path[:cut]
	}
}

// Within is the place of a line and column, both counted from 1, of the text
// that a value holds. Where the notation of the file hides it (folded text,
// escapes), it is the place of the value.
func (d *Document) Within(path string, line, column int) policy.LoadError {
	e := d.At(path)
	node := d.nodes[path]
	switch {
	case node == nil || node.Kind != yaml.ScalarNode || line < 1 || column < 1:
	case node.Style&yaml.LiteralStyle != 0 && node.Line+line <= len(d.lines):
		e.Line = node.Line + line
		text := d.lines[e.Line-1]
		e.Column = len(text) - len(strings.TrimLeft(text, " ")) + column
	case node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && line == 1:
		e.Column += column
	case node.Style == 0 && line == 1:
		e.Column += column - 1
	}
	return e
}

// walker turns nodes into plain values and gathers faults.
type walker struct {
	doc    *Document
	faults policy.LoadErrors
}

func (w *walker) fail(node *yaml.Node, path, format string, args ...any) {
	w.faults = append(w.faults, policy.LoadError{
		File: w.doc.file, Line: node.Line, Column: node.Column, Path: path, Text: fmt.Sprintf(format, args...),
	})
}

func (w *walker) walk(node *yaml.Node, t reflect.Type, path string) any {
	w.doc.nodes[path] = node
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if want := notation(t); want != 0 && want != node.Kind && node.Tag != "!!null" && node.Kind != yaml.AliasNode {
		w.fail(node, path, "want %s, have %s", kindNames[want], kindNames[node.Kind])
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		return w.mapping(node, t, path)
	case yaml.SequenceNode:
		out := make([]any, len(node.Content))
		for i, item := range node.Content {
			at := fmt.Sprintf("%s[%d]", path, i)
			w.wantText(item, element(t), at)
			out[i] = w.walk(item, element(t), at)
		}
		return out
	case yaml.ScalarNode:
		return w.scalar(node, t, path)
	default:
		w.fail(node, path, "aliases are not supported")
		return nil
	}
}

var kindNames = map[yaml.Kind]string{yaml.MappingNode: "a map", yaml.SequenceNode: "a list", yaml.ScalarNode: "a single value"}

// notation is how a type is written; 0 if anything goes.
func notation(t reflect.Type) yaml.Kind {
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return 0
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return yaml.MappingNode
	case reflect.Slice:
		return yaml.SequenceNode
	case reflect.Interface:
		return 0
	}
	return yaml.ScalarNode
}

func (w *walker) mapping(node *yaml.Node, t reflect.Type, path string) any {
	out := map[string]any{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := key.Value
		if path != "" {
			at = path + "." + key.Value
		}
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			w.fail(key, path, "a key must be plain text")
			continue
		}
		if _, twice := out[key.Value]; twice {
			w.fail(key, at, "is given twice")
		}
		inner, known := fieldType(t, key.Value)
		if !known {
			w.fail(key, at, "unknown key; known are %s", strings.Join(keysOf(t), ", "))
		}
		if t != nil && t.Kind() == reflect.Map {
			w.wantText(value, inner, at)
		}
		out[key.Value] = w.walk(value, inner, at)
	}
	return out
}

// wantText refuses nothing where a text belongs: a field may be left empty, an
// entry of a list or a map may not.
func (w *walker) wantText(node *yaml.Node, t reflect.Type, path string) {
	if t != nil && t.Kind() == reflect.String && node.Tag == "!!null" {
		w.fail(node, path, `is empty: write "" if that is meant`)
	}
}

func (w *walker) scalar(node *yaml.Node, t reflect.Type, path string) any {
	if node.Style&yaml.TaggedStyle != 0 {
		w.fail(node, path, "a tag such as %s is not supported", node.Tag)
		return nil
	}
	if t != nil && t.Kind() == reflect.String && node.Tag != "!!null" {
		return node.Value
	}
	switch node.Tag {
	case "!!int", "!!float":
		return w.whole(node, path)
	case "!!bool":
		return node.Value == "true" || node.Value == "True" || node.Value == "TRUE"
	case "!!null":
		return nil
	default:
		return node.Value
	}
}

// whole reads a whole number in decimal.
func (w *walker) whole(node *yaml.Node, path string) int64 {
	digits := strings.TrimLeft(node.Value, "+-")
	n, err := strconv.ParseInt(strings.TrimPrefix(node.Value, "+"), 10, 64)
	switch {
	case node.Tag == "!!float" && strings.Trim(digits, "0123456789") != "":
		w.fail(node, path, "%s: fractions are not supported", node.Value)
	case err != nil || digits != "0" && strings.HasPrefix(digits, "0"):
		w.fail(node, path, "%s is not a whole number of 64 bits, written in decimal", node.Value)
	}
	return n
}

func element(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		return t.Elem()
	}
	return nil
}

// fieldType is the type that a key is read into, nil if anything goes.
func fieldType(t reflect.Type, key string) (reflect.Type, bool) {
	if t == nil || t.Kind() != reflect.Struct {
		return element(t), true
	}
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == key {
			return field.Type, true
		}
	}
	return nil, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}
