// Command policytest runs the cases of policies, in CEL and in Rego.
//
//	policytest [-v] DIR...
//
// It prints a report. The exit status is 0 if all passed, 1 if something
// failed, and 2 if the cases could not be run.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// say writes a line for the person at the terminal. Where that fails there is
// nobody left to tell.
func say(to io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(to, format+"\n", args...) }

func run(args []string, out, fault io.Writer) int {
	flags := flag.NewFlagSet("policytest", flag.ContinueOnError)
	flags.SetOutput(fault)
	verbose := flags.Bool("v", false, "print every case")
	flags.Usage = func() { say(fault, "usage: policytest [-v] DIR...") }
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return 2
	}
	status := 0
	for _, dir := range flags.Args() {
		report, err := policytest.Check(context.Background(), os.DirFS(dir), engines.Loaders())
		if err != nil {
			say(fault, "policytest: %s: %v", dir, err)
			return 2
		}
		if err := report.Write(out, *verbose); err != nil {
			say(fault, "policytest: %v", err)
			return 2
		}
		if !report.Passed() {
			status = 1
		}
	}
	return status
}
