package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The demo's own files are part of the program, so that it runs from anywhere.
// On the command line their names begin with "demo:".
//
//go:embed testdata/budgets.yaml testdata/prices.yaml testdata/runs.jsonl
var demo embed.FS

const demoPrefix = "demo:"

// A source is a file that was read. All faults in it are told by its name.
type source struct {
	name string
	text []byte
}

// A fault is what is wrong at one place of a file.
type fault struct {
	file   string
	line   int    // from 1; 0 for the file as a whole
	field  string // a path such as spec.period.timezone; "" for the line as a whole
	reason string
}

func (f *fault) Error() string {
	place := f.file
	if f.line > 0 {
		place = fmt.Sprintf("%s:%d", place, f.line)
	}
	if f.field != "" {
		place += ": " + f.field
	}
	return place + ": " + f.reason
}

// read reads one file.
func read(name string) (source, error) {
	var text []byte
	var err error
	if inside, ok := strings.CutPrefix(name, demoPrefix); ok {
		text, err = demo.ReadFile(path.Join("testdata", inside))
	} else {
		text, err = os.ReadFile(name) //nolint:gosec // G304: which files are read is what the user says on the command line
	}
	if err != nil {
		return source{}, &fault{file: name, reason: because(err)}
	}
	if strings.TrimSpace(string(text)) == "" {
		return source{}, &fault{file: name, reason: "the file is empty"}
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // some editors begin a text with it
	if line, column, ok := notUTF8(text); ok {
		return source{}, &fault{file: name, line: line, reason: fmt.Sprintf("column %d: the text is not in UTF-8", column)}
	}
	return source{name: name, text: text}, nil
}

// notUTF8 finds the first place at which a text is not in UTF-8, false if there
// is none. Decoders put another character there, and a label would be another
// label.
func notUTF8(text []byte) (line, column int, found bool) {
	for part := range bytes.Lines(text) {
		line++
		for at := 0; at < len(part); {
			r, size := utf8.DecodeRune(part[at:])
			if r == utf8.RuneError && size == 1 {
				return line, at + 1, true
			}
			at += size
		}
	}
	return 0, 0, false
}

// readAll reads files, and the manifests of folders in the order of their names.
func readAll(names []string) ([]source, error) {
	var sources []source
	for _, name := range names {
		files := []string{name}
		if info, err := os.Stat(name); err == nil && info.IsDir() { //nolint:gosec // G703: the user names the folder
			if files, err = manifestsIn(name); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			s, err := read(file)
			if err != nil {
				return nil, err
			}
			sources = append(sources, s)
		}
	}
	return sources, nil
}

func manifestsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &fault{file: folder, reason: because(err)}
	}
	var files []string
	for _, entry := range entries {
		extension := filepath.Ext(entry.Name())
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, extension) {
			files = append(files, filepath.Join(folder, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, &fault{file: folder, reason: "no .yaml, .yml or .json file is in this folder"}
	}
	return files, nil
}

// because gives an error of the file system without the name that the fault
// tells anyway.
func because(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}
