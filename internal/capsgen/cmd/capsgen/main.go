// Command capsgen writes the allowed built-ins of Rego to the file that is its
// only argument.
package main

import (
	"fmt"
	"os"

	"github.com/bursar-dev/bursar/internal/capsgen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: capsgen FILE")
		os.Exit(2)
	}
	text, err := capsgen.File()
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "capsgen:", err)
		os.Exit(1)
	}
}
