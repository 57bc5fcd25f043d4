package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// A document is one of the documents of a YAML file: as JSON, which is what
// manifests are decoded from, and as a tree that still knows its lines.
type document struct {
	file string
	line int // the line on which it starts
	json []byte
	tree yaml.Node
}

// documents cuts a file where kubectl does, at lines that begin with "---".
// Documents in which there is nothing, or only comments, are left out.
func documents(s source) ([]document, error) {
	var found []document
	line := 1
	for text := range bytes.SplitSeq(s.text, []byte("\n---")) {
		doc, err := parse(s.name, line, text)
		if err != nil {
			return nil, err
		}
		if doc.tree.Kind != 0 && string(doc.json) != "null" {
			found = append(found, doc)
		}
		line += bytes.Count(text, []byte("\n")) + 1
	}
	return found, nil
}

// parse reads one document. The empty lines before it make the parsers count
// the lines of the file.
func parse(file string, line int, text []byte) (document, error) {
	if line > 1 {
		_, text, _ = bytes.Cut(text, []byte("\n")) // the rest of the line "---"
		line++
	}
	doc := document{file: file, line: line}
	padded := append(bytes.Repeat([]byte("\n"), line-1), text...)
	if err := yaml.Unmarshal(padded, &doc.tree); err != nil {
		return document{}, doc.broken(err)
	}
	var err error
	if doc.json, err = sigsyaml.YAMLToJSONStrict(padded); err != nil {
		return document{}, doc.broken(err)
	}
	return doc, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// broken turns what a YAML parser says into a fault with a line of its own.
func (d *document) broken(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if found := yamlLine.FindStringSubmatch(text); found != nil {
		line, _ := strconv.Atoi(found[1])
		return &fault{file: d.file, line: line, reason: found[2]}
	}
	return &fault{file: d.file, line: d.line, reason: text}
}

// at places a fault in the file, on the line of its field. Where the field is
// missing that is the line of what it is missing in.
func (d *document) at(f fault) error {
	f.file, f.line = d.file, d.line
	node := &d.tree
	if node.Kind == yaml.DocumentNode {
		node = node.Content[0]
		f.line = node.Line
	}
	for _, step := range steps(f.field) {
		line, child := child(node, step)
		if child == nil {
			break
		}
		f.line, node = line, child
	}
	return &f
}

// steps cuts the path spec.limits[1].meter into spec, limits, 1 and meter. A
// key that has dots in it, such as a label's, stands in brackets.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(".[]", c) })
}

// child finds what a step leads to, and the line on which it is named.
func child(node *yaml.Node, step string) (int, *yaml.Node) {
	switch node.Kind {
	case yaml.AliasNode:
		return child(node.Alias, step)
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i].Line, node.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i].Line, node.Content[i+1]
			}
		}
	case yaml.DocumentNode, yaml.ScalarNode:
	}
	return 0, nil
}

// decode reads the document into a new T; all faults have file, line and field.
func decode[T any](d *document) (T, []error) {
	into, faults := decodeStrict[T](d.json)
	var errs []error
	for _, f := range faults {
		errs = append(errs, d.at(f))
	}
	return into, errs
}

// place names a line for a message about another one.
func (d *document) place(field string) string {
	err, _ := d.at(fault{field: field}).(*fault) //nolint:errorlint // at makes nothing else
	return fmt.Sprintf("%s:%d", err.file, err.line)
}
