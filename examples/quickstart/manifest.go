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
		var beside []byte // the rest of the line "---"
		beside, text, _ = bytes.Cut(text, []byte("\n"))
		if beside = bytes.TrimSpace(beside); len(beside) > 0 && beside[0] != '#' {
			return document{}, &fault{file: file, line: line, reason: "write the document on the lines after ---, not beside it"}
		}
		line++
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // some editors begin a text with it
	doc := document{file: file, line: line}
	padded := append(bytes.Repeat([]byte("\n"), line-1), text...)
	var err error
	if doc.json, err = sigsyaml.YAMLToJSONStrict(padded); err != nil {
		return document{}, doc.broken(err)
	}
	if err := yaml.Unmarshal(padded, &doc.tree); err != nil {
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
func (d *document) at(f fault) *fault {
	f.file, f.line = d.file, d.line
	node := &d.tree
	if node.Kind == yaml.DocumentNode {
		node = node.Content[0]
		f.line = node.Line
	}
	for path := f.field; node != nil && path != ""; {
		var line int
		if line, node, path = descend(node, path); node != nil {
			f.line = line
		}
	}
	return &f
}

// descend goes the first step of a path such as limits[1].meter: to the node
// that it leads to, nil if there is none, the line on which that is named, and
// the rest of the path. Keys are compared whole, since they may have dots in them.
func descend(node *yaml.Node, path string) (int, *yaml.Node, string) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	for i, child := range node.Content {
		name, value := fmt.Sprintf("[%d]", i), child
		if node.Kind == yaml.MappingNode {
			if i%2 == 1 {
				continue // the value of the key before it
			}
			name, value = child.Value, node.Content[i+1]
		}
		rest, ok := strings.CutPrefix(path, name)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return child.Line, value, strings.TrimPrefix(rest, ".")
		}
	}
	return 0, nil, ""
}

// all places faults in the file.
func (d *document) all(faults []fault) []error {
	var errs []error
	for _, f := range faults {
		errs = append(errs, d.at(f))
	}
	return errs
}

// place names the line of a field for a message about another one.
func (d *document) place(field string) string {
	f := d.at(fault{field: field})
	return fmt.Sprintf("%s:%d", f.file, f.line)
}
