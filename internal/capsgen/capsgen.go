// Package capsgen renders what authors' tools need: rego/samples, the inputs
// that a policy is tried on, and rego/capabilities.json, the built-in functions
// of OPA that a policy may call. That list is what is allowed, not what is
// forbidden, so that an upgrade of OPA adds nothing by itself.
package capsgen

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Allowed lists the built-ins. None looks at the clock, the network, the
// environment, files or chance. Missing on purpose, because a few steps of
// them make a result of any size: array.concat, replace, strings.replace_n,
// regex.replace, bits.lsh, strings.render_template.
func Allowed() []string {
	return strings.Fields(`
		count max min product sort sum
		abs ceil div floor minus mul plus rem round
		assign eq equal gt gte lt lte neq
		array.reverse array.slice
		bits.and bits.negate bits.or bits.rsh bits.xor
		object.filter object.get object.keys object.remove object.subset object.union object.union_n
		and intersection or set_diff union
		concat contains endswith format_int indexof lower split sprintf startswith substring upper
		strings.any_prefix_match strings.any_suffix_match strings.count strings.reverse
		trim trim_left trim_prefix trim_right trim_space trim_suffix
		is_array is_boolean is_null is_number is_object is_set is_string type_name
		numbers.range numbers.range_step to_number
		glob.match regex.match
		semver.compare semver.is_valid
		units.parse units.parse_bytes
		time.add_date time.clock time.date time.diff time.format time.parse_duration_ns time.parse_ns time.parse_rfc3339_ns time.weekday
		internal.member_2 internal.member_3 internal.print internal.test_case print`)
}

// File renders the file. A name that this version of OPA lacks is an error.
func File() ([]byte, error) {
	known := map[string]*ast.Builtin{}
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		known[b.Name] = b
	}
	var builtins []*ast.Builtin
	for _, name := range Allowed() {
		b, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("built-in %s: not in this version of OPA", name)
		}
		builtins = append(builtins, b)
	}
	// Not ast.Capabilities, which omits an empty allow_net, and an omitted one
	// allows every host.
	text, err := json.MarshalIndent(map[string]any{
		"builtins": builtins, "features": []string{"keywords_in_refs", "rego_v1"}, "allow_net": []string{},
	}, "", "  ")
	return append(text, '\n'), err
}
