// Command capsgen writes what authors' tools need to the folder that is its
// only argument: capabilities.json, the allowed built-ins of Rego, and
// samples/*.json, the inputs that a policy is tried on.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bursar-dev/bursar/internal/capsgen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: capsgen DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "capsgen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	text, err := capsgen.File()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "capabilities.json"), text, 0o644); err != nil {
		return err
	}
	samples, err := capsgen.Samples()
	if err != nil {
		return err
	}
	for name, text := range samples {
		if err := os.WriteFile(filepath.Join(dir, "samples", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
