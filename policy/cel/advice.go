package cel

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bursar-dev/bursar/internal/spelling"
)

// The messages of the library that authors meet most.
var (
	undefinedField = regexp.MustCompile(`^undefined field '([^']*)'`)
	undeclaredName = regexp.MustCompile(`^undeclared reference to '([^']*)'.*`)
	noOverload     = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
	notAssignment  = regexp.MustCompile(`(^|[^=!<>])=([^=]|$)`)
)

// functionNames are those that an author may have meant.
var functionNames = strings.Fields(`startsWith endsWith contains matches size lowerAscii trim split usd cpu bytes permille money
	int string bool duration timestamp getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMinutes getMonth getSeconds
	math.greatest math.least sets.contains sets.equivalent sets.intersects orValue hasValue exists exists_one all map filter has`)

// advised rewrites a message of the library for the author of an expression.
func (c *compiler) advised(message, text string) string {
	if m := undefinedField.FindStringSubmatch(message); m != nil {
		return c.adviseField(m[0], m[1], text)
	}
	if m := undeclaredName.FindStringSubmatch(message); m != nil {
		return "undeclared reference to '" + m[1] + "'" + adviseName(m[1], text)
	}
	if m := noOverload.FindStringSubmatch(message); m != nil {
		return adviseTypes(m[1], strings.Trim(m[2], "()"))
	}
	if strings.HasPrefix(message, "Syntax error") {
		return message + adviseSyntax(text)
	}
	return message
}

func (c *compiler) adviseField(message, name, text string) string {
	switch {
	case strings.Contains(text, "params."+name):
		return message + ": the policy declares no such parameter"
	case strings.Contains(text, "variables."+name):
		return message + ": no variable of that name comes before"
	}
	var known []string
	for _, o := range objects {
		known = append(known, slices.Collect(maps.Keys(o.fields))...)
	}
	slices.Sort(known)
	return message + spelling.DidYouMean(name, known)
}

func adviseName(name, text string) string {
	roots := slices.Sorted(maps.Keys(rootTypes))
	switch {
	case name == "input":
		return ": in CEL the document has no root; write task.model, not input.task.model"
	case slices.Contains(roots, name) && strings.Contains(text, name+"("):
		return ": " + name + " is a value, not a function; write it without ()"
	}
	if hint := spelling.DidYouMean(name, append(append(roots, "params", "variables"), functionNames...)); hint != "" {
		return hint
	}
	if strings.Contains(text, name+"(") {
		for _, function := range functionNames {
			if strings.HasSuffix(function, "."+name) {
				return "; did you mean " + function + "?"
			}
		}
		return ": there is no such function"
	}
	return `: text stands in quotes, as in "` + name + `"; the document has ` + strings.Join(roots, ", ")
}

func adviseTypes(operator, operands string) string {
	if operator == "_?_:_" {
		return "both sides of ? : must be of one type, have (" + operands + ")"
	}
	operator = strings.TrimPrefix(strings.Trim(operator, "_"), "@")
	message := operator + " cannot be applied to (" + operands + ")"
	switch {
	case operator == "+" && strings.Contains(operands, "string"):
		return message + ": write string(n) for a number, money(n) for an amount of money"
	case strings.Contains(operands, "int") && strings.Contains(operands, "string"):
		return message + `: write a number without quotes; for quantities usd("12.50"), cpu("500m"), bytes("4Gi")`
	}
	return message
}

func adviseSyntax(text string) string {
	switch {
	case notAssignment.MatchString(text):
		return ": equality is written =="
	case strings.Contains(text, " and ") || strings.Contains(text, " or ") || strings.HasPrefix(text, "not ") || strings.Contains(text, " not "):
		return ": and, or, not are written &&, ||, !"
	case quantityText.MatchString(text):
		return `: quantities are written bytes("2Gi"), cpu("500m"), usd("12.50")`
	}
	return ""
}

var quantityText = regexp.MustCompile(`(^|[^\w"'])\d+(\.\d+)?(m|[kKMGTP]i?B?|USD)\b`)
