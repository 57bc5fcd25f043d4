// Command inputgen writes the files that describe the policy input. Its only
// argument is the module's root directory.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bursar-dev/bursar/internal/inputgen"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "inputgen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: inputgen ROOT")
	}
	files, err := inputgen.Files()
	if err != nil {
		return err
	}
	for path, text := range files {
		full := filepath.Join(args[0], path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
