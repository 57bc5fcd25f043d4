// Quickstart shows what bursar does to real runs, without a cluster: it plays
// finished runs of agents once more, on a simulated clock, under TaskBudgets.
//
// Read controller.go first. It is the part that a controller of yours would
// have; the rest reads files and prints.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -budgets my/budgets -runs my/runs.jsonl -explain run-042
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: 0 if it succeeds, 1 if a file is wrong, 2 if the command
// line is. Nothing is written to stdout unless everything succeeds.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	text, err := o.simulate()
	if err == nil {
		_, err = stdout.Write(text)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err) // there is nobody else to tell
		return 1
	}
	return 0
}

// options are what the command line says.
type options struct {
	budgets []string
	runs    string
	prices  string
	explain string
	asJSON  bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("budgets", "`file or folder` with TaskBudgets; again, or with commas, for several (default the demo's)",
		func(value string) error {
			o.budgets = append(o.budgets, strings.Split(value, ",")...)
			return nil
		})
	flags.StringVar(&o.runs, "runs", demoPrefix+"runs.jsonl", "`file` with a finished run a line, in JSON")
	flags.StringVar(&o.prices, "prices", "", "`file` with a price list (default the demo's for the demo's runs, else none)")
	flags.StringVar(&o.explain, "explain", "", "`UID or name` of the run whose decision is explained (default a telling one)")
	flags.BoolVar(&o.asJSON, "json", false, "write everything as JSON")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "%s: files are named with flags\n", usage.Quote(flags.Arg(0)))
		return o, errors.New("arguments")
	}
	if len(o.budgets) == 0 {
		o.budgets = []string{demoPrefix + "budgets.yaml"}
		if o.prices == "" && o.runs == demoPrefix+"runs.jsonl" {
			o.prices = demoPrefix + "prices.yaml"
		}
	}
	return o, nil
}

// simulate reads the files, lets the runs happen and tells what became of them.
func (o *options) simulate() ([]byte, error) {
	c, runs, err := o.load()
	if err != nil {
		return nil, err
	}
	if err := c.play(runs); err != nil {
		return nil, err
	}
	return o.tell(c.journal)
}

// tell makes the text of what happened.
func (o *options) tell(j *journal) ([]byte, error) {
	r, err := j.report()
	if err != nil {
		return nil, err
	}
	told, err := j.find(o.explain)
	if err != nil {
		return nil, err
	}
	r.Explained = told.decision()
	if r.Pod, err = podFor(told.run); err != nil {
		return nil, err
	}
	if o.asJSON {
		text, err := json.MarshalIndent(r, "", "  ")
		return append(text, '\n'), err
	}
	var text bytes.Buffer
	err = r.print(&text)
	return text.Bytes(), err
}

// load reads all files. The ledger knows the budgets from the start, so that
// each record finds its sums without any search.
func (o *options) load() (*controller, []finishedRun, error) {
	rules, err := readBudgets(o.budgets)
	if err != nil {
		return nil, nil, err
	}
	runs, err := readRuns(o.runs)
	if err != nil {
		return nil, nil, err
	}
	c := &controller{rules: rules, ledger: usage.NewMemory(scopes(rules)...)}
	if o.prices != "" {
		if c.prices, err = readPrices(o.prices); err != nil {
			return nil, nil, err
		}
	}
	c.journal = newJournal(rules, c.ledger)
	return c, runs, nil
}

func scopes(rules []*budget.Rule) []*usage.Scope {
	var list []*usage.Scope
	for _, rule := range rules {
		list = append(list, rule.Scope())
	}
	return list
}
