// Command mutants breaks podspec in every way that it knows and prints who notices. Its only argument is the root of the
// repository. It fails if a mutant survives, or does not apply any more.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bursar-dev/bursar/internal/mutants"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: mutants ROOT")
	}
	suite, err := mutants.Podspec(args[0])
	if err != nil {
		return err
	}
	results, err := suite.All(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%-66s %9s  %s\n", "mutant", "recorded", "other tests that fail")
	survivors := 0
	for _, r := range results {
		tests := strings.Join(r.Tests[:min(len(r.Tests), 2)], ", ")
		if more := len(r.Tests) - 2; more > 0 {
			tests += fmt.Sprintf(" and %d more", more)
		}
		if !r.Killed() {
			survivors++
			tests = "SURVIVES"
		}
		fmt.Printf("%-66s %9d  %s\n", r.Mutant, r.Recorded, tests)
	}
	fmt.Printf("%d mutants, %d survive\n", len(results), survivors)
	if survivors > 0 {
		return fmt.Errorf("%d mutants survive: no test notices them", survivors)
	}
	return nil
}
