package rego

import (
	"regexp"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The messages of the engine that authors meet most.
var (
	unsafeVar   = regexp.MustCompile(`^var (\w+) is unsafe$`)
	unknownCall = regexp.MustCompile(`^undefined function (?:data\.bursar\.lib\.)?(\w+)\.(\w+)$`)
	mismatch    = regexp.MustCompile(`^match error; left *: (\w+).*; right *: (\w+)`)
)

// roots of the document, and the helper packages that come with this package.
const (
	documentRoots   = " version operation now nowUnixMs task actor estimate usage pod budget budgets facts "
	libraryPackages = " labels models money time "
)

// advised adds to a message of the engine what its author may have meant.
func advised(text string) string {
	if m := unsafeVar.FindStringSubmatch(text); m != nil {
		if strings.Contains(documentRoots, " "+m[1]+" ") {
			return text + ": write input." + m[1]
		}
		return text + ": nothing gives it a value; text stands in quotes"
	}
	if strings.HasPrefix(text, "undefined function time.now_ns") {
		return text + ": the instant of the call is input.now and input.nowUnixMs"
	}
	if m := unknownCall.FindStringSubmatch(text); m != nil {
		switch {
		case strings.Contains(libraryPackages, " "+m[1]+" ") && !strings.Contains(text, "data."):
			return text + ": write import data.bursar.lib." + m[1] + " above the rules"
		case strings.Contains(text, "data."):
			return text + ": bursar.lib has the packages" + strings.TrimRight(libraryPackages, " ")
		}
	}
	if m := mismatch.FindStringSubmatch(text); m != nil {
		return "a " + m[1] + " never equals a " + m[2] + ": numbers stand without quotes, text with them"
	}
	if strings.HasPrefix(text, "unexpected eof token") {
		return text + ": is a { or a [ not closed?"
	}
	return text
}

// adviceOn a reference to data that nothing gives.
func adviceOn(ref ast.Ref) string {
	if len(ref) > 1 && ref[1].Equal(ast.StringTerm("params")) {
		return ": parameters are declared above the package, # METADATA, # custom:, #   params:"
	}
	return ""
}
