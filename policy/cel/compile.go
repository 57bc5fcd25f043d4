package cel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/bursar-dev/bursar/policy"
)

// Policy is a policy as it is written in a file.
type Policy struct {
	// Name of the policy; Options.Name is used if it is empty.
	Name string `json:"name,omitempty"`
	// Description for people; not used.
	Description string `json:"description,omitempty"`
	// Params that the policy is loaded with, read as params.NAME.
	Params map[string]policy.Param `json:"params,omitempty"`
	// Variables, each of which may read those before it.
	Variables []policy.Variable `json:"variables,omitempty"`
	// Rules, at least one. Their order does not matter.
	Rules []policy.Rule `json:"rules"`
}

// Options of loading.
type Options struct {
	// Name of a policy that gives none.
	Name string
	// Params are values for the declared parameters.
	Params map[string]any
}

// Compile checks and compiles a policy that is given as structs, as a budget
// carries it. The error is policy.LoadErrors: every fault with the path of its
// field (rules[2].when) and the line and column within the expression.
func Compile(p Policy, o Options) (*Hook, error) {
	return compile(p, o, within, policy.Samples())
}

// within is the place of a fault where there is no file.
func within(path string, line, column int) policy.LoadError {
	return policy.LoadError{Path: path, Line: line, Column: column}
}

// CompileRules makes a hook of the rules of a budget, under any name. It is a
// policy.RuleCompiler.
func CompileRules(name string, rules []policy.Rule) (policy.Hook, error) {
	hook, err := Compile(Policy{Name: inline, Rules: rules}, Options{})
	if err != nil {
		return nil, err
	}
	hook.name = name
	return hook, nil
}

// inline stands for the name of rules that come without a file.
const inline = "inline"

var _ policy.RuleCompiler = CompileRules

// compiler gathers the faults of one policy.
type compiler struct {
	place  func(path string, line, column int) policy.LoadError
	faults policy.LoadErrors
	env    *cel.Env
	hook   *Hook
	// index of the variables that are known so far, by name
	known map[string]int
}

func compile(p Policy, o Options, place func(string, int, int) policy.LoadError, samples []policy.Sample) (*Hook, error) {
	c := &compiler{place: place, known: map[string]int{}, hook: &Hook{name: p.Name}}
	if c.hook.name == "" {
		c.hook.name = o.Name
	}
	if !policy.ValidCode(c.hook.name) {
		c.fail("name", "", "%q: want 1 to 63 of a-z, 0-9 and -", short(c.hook.name))
	}
	params, err := policy.BindParams(p.Params, o.Params)
	if err != nil {
		c.fail("params", "", "%v", err)
	}
	variables := map[string]*types.FieldType{}
	if c.env, err = newEnv(paramFields(params), variables); err != nil {
		c.fail("", "", "%v", err)
		return nil, c.faults
	}
	c.hook.env = c.env
	c.compileVariables(p.Variables, variables)
	c.compileRules(p.Rules)
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	c.guardExcess()
	c.try(samples)
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	c.hook.revision = revision(p, c.hook.name, params)
	return c.hook, nil
}

// fail records a fault of a field.
func (c *compiler) fail(path, rule, format string, args ...any) {
	c.failAt(path, rule, 0, 0, format, args...)
}

// failAt records a fault within an expression.
func (c *compiler) failAt(path, rule string, line, column int, format string, args ...any) {
	e := c.place(path, line, column)
	e.Rule, e.Text = rule, fmt.Sprintf(format, args...)
	c.faults = append(c.faults, e)
}

func (c *compiler) compileVariables(all []policy.Variable, fields map[string]*types.FieldType) {
	if len(all) > maxVariables {
		c.fail("variables", "", "%d variables, at most %d are allowed", len(all), maxVariables)
		return
	}
	for i, v := range all {
		path := fmt.Sprintf("variables[%d]", i)
		if !identifier(v.Name) {
			c.fail(path+".name", "", "%q: want a letter or _, then letters, digits and _", short(v.Name))
			continue
		}
		if _, taken := c.known[v.Name]; taken {
			c.fail(path+".name", "", "%s is given twice", v.Name)
			continue
		}
		e := c.expression(path+".expression", "", v.Expression, nil)
		if e == nil {
			continue
		}
		index := len(c.hook.variables)
		c.hook.variables = append(c.hook.variables, e)
		c.known[v.Name] = index
		fields[v.Name] = &types.FieldType{
			Type:  e.output,
			IsSet: func(any) bool { return true },
			GetFrom: func(object any) (any, error) {
				a, ok := object.(*activation)
				if !ok {
					return nil, fmt.Errorf("variables of %T", object)
				}
				return a.variable(index)
			},
		}
	}
}

func identifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

func (c *compiler) compileRules(all []policy.Rule) {
	if len(all) == 0 {
		c.fail("rules", "", "there are no rules")
	}
	if len(all) > maxRules {
		c.fail("rules", "", "%d rules, at most %d are allowed", len(all), maxRules)
		return
	}
	seen := map[string]bool{}
	for i, r := range all {
		path := fmt.Sprintf("rules[%d]", i)
		if seen[r.Name] && policy.ValidCode(r.Name) {
			c.fail(path+".name", r.Name, "is given twice")
		}
		seen[r.Name] = true
		c.hook.rules = append(c.hook.rules, c.rule(path, r))
	}
}

// rule checks the fields of one rule and compiles its expressions.
func (c *compiler) rule(path string, r policy.Rule) rule {
	out := rule{name: r.Name, effect: r.Effect, code: r.Code, message: r.Message, field: r.Field, key: r.Key, match: r.Match}
	out.source = c.place(path, 0, 0)
	if out.code == "" {
		out.code = r.Name
	}
	for _, e := range r.Validate() {
		c.fail(path+"."+e.Path, e.Rule, "%s", e.Text)
	}
	out.when = c.expression(path+".when", r.Name, r.When, types.BoolType)
	if r.MessageExpression != "" {
		out.text = c.expression(path+".messageExpression", r.Name, r.MessageExpression, types.StringType)
	}
	if r.RetryAfterSeconds != "" {
		out.retry = c.expression(path+".retryAfterSeconds", r.Name, r.RetryAfterSeconds, types.IntType)
	}
	if r.Value != "" {
		want := types.IntType
		if r.Effect == policy.EffectLabel {
			want = types.StringType
		}
		out.value = c.expression(path+".value", r.Name, r.Value, want)
	}
	return out
}

// guardExcess puts the dearest expressions under accounting until what the
// rest may cost together fits a policy's limit.
func (c *compiler) guardExcess() {
	var sum uint64
	for _, e := range c.hook.expressions() {
		if e.guarded {
			continue
		}
		if sum += e.worst; sum > policyCostLimit {
			e.guarded = true
		}
	}
}

// revision hashes what decides the answers.
func revision(p Policy, name string, params map[string]any) string {
	text, err := json.Marshal([]any{engineVersion, policy.Version, name, p, params})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// engineVersion is part of a revision: an engine that evaluates otherwise
// makes another policy.
const engineVersion = "cel-go v0.31.0"
