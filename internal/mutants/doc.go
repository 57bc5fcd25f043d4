// Package mutants breaks podspec by hand, one rule at a time, and sees whether its tests notice.
//
// A [Mutant] is a small change to the source of one function, which is a mistake that predictors of the API server were seen
// to make, or could. All mutants of a package are woven into one test binary: each changed function stands beside the true
// one, which calls it when the environment names its mutant. So the package is compiled once, and nothing of this is in it:
// the woven files are an overlay of the go command. A change that no longer applies, because the function that it is about
// was rewritten, is an error and not a mutant that is killed; so is one that does not compile.
//
// `make mutants` prints which tests kill which mutant. `make test` runs them too.
package mutants
