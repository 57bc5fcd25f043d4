package cel

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/bursar-dev/bursar/policy"
)

// field is a key of an object: its type and how it is read from a pointer to
// the Go struct. A getter returns a CEL value, a pointer into the document, or
// a Go map or slice that the library reads as it is.
type field struct {
	typ *types.Type
	get func(any) any
}

// object is a type of the document.
type object struct {
	typ    *types.Type
	fields map[string]field
}

// provider tells the type checker about the document, the policy's parameters
// and its variables, and gives the evaluator direct access to their fields.
type provider struct {
	types.Provider
	extra map[string]map[string]*types.FieldType
}

// newProvider knows the objects of the document and the two of the policy.
func newProvider(base types.Provider, params, variables map[string]*types.FieldType) *provider {
	p := &provider{Provider: base, extra: map[string]map[string]*types.FieldType{
		paramsType.TypeName(): params, variablesType.TypeName(): variables,
	}}
	for name, o := range objects {
		fields := make(map[string]*types.FieldType, len(o.fields))
		for key, f := range o.fields {
			fields[key] = &types.FieldType{
				Type:    f.typ,
				IsSet:   func(any) bool { return true },
				GetFrom: func(v any) (any, error) { return f.get(v), nil },
			}
		}
		p.extra[name] = fields
	}
	return p
}

// FindStructType finds a type of the document.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.extra[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames lists the keys of an object.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	fields, ok := p.extra[name]
	if !ok {
		return p.Provider.FindStructFieldNames(name)
	}
	names := make([]string, 0, len(fields))
	for key := range fields {
		names = append(names, key)
	}
	slices.Sort(names)
	return names, true
}

// FindStructFieldType finds a key of an object.
func (p *provider) FindStructFieldType(name, key string) (*types.FieldType, bool) {
	fields, ok := p.extra[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, key)
	}
	f, ok := fields[key]
	return f, ok
}

// NewValue refuses to make objects of the document.
func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if _, ok := p.extra[name]; ok {
		return types.NewErr("%s cannot be made by a policy", name)
	}
	return p.Provider.NewValue(name, fields)
}

// adapter turns pointers into the document into CEL values.
type adapter struct{ types.Adapter }

// NativeToValue adapts a Go value.
func (a adapter) NativeToValue(value any) ref.Val {
	if o, ok := typeOf(value); ok {
		return &objectValue{object: o, pointer: value, adapter: a}
	}
	switch v := value.(type) { // containers must adapt their members here, too
	case []any:
		return types.NewDynamicList(a, v)
	case map[string]any:
		return types.NewStringInterfaceMap(a, v)
	}
	return a.Adapter.NativeToValue(value)
}

// objectValue is an object of the document used as a whole, say an element of
// budgets in a comprehension.
type objectValue struct {
	object
	pointer any
	adapter types.Adapter
}

// ConvertToNative refuses: policies have nothing to convert to.
func (o *objectValue) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("%s cannot be converted to %s", o.typ.TypeName(), t)
}

// ConvertToType answers type().
func (o *objectValue) ConvertToType(t ref.Type) ref.Val {
	if t.TypeName() == types.TypeType.TypeName() {
		return o.typ
	}
	return types.NewErr("%s cannot be converted to %s", o.typ.TypeName(), t.TypeName())
}

// Equal refuses: policies compare fields.
func (o *objectValue) Equal(ref.Val) ref.Val {
	return types.NewErr("%s cannot be compared as a whole: compare its fields", o.typ.TypeName())
}

// Type of the object.
func (o *objectValue) Type() ref.Type { return o.typ }

// Value is the pointer that getters read.
func (o *objectValue) Value() any { return o.pointer }

// Get reads a field by name, where the checker did not know the type.
func (o *objectValue) Get(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.NewErr("%s has no key of type %s", o.typ.TypeName(), index.Type().TypeName())
	}
	f, ok := o.fields[string(name)]
	if !ok {
		return types.NewErr("%s has no field %q", o.typ.TypeName(), string(name))
	}
	return o.adapter.NativeToValue(f.get(o.pointer))
}

// IsSet says whether the object has a field.
func (o *objectValue) IsSet(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.False
	}
	_, ok = o.fields[string(name)]
	return types.Bool(ok)
}

// budgetList gives access to budgets without copying them.
func budgetList(budgets []policy.Budget) any {
	out := make([]any, len(budgets))
	for i := range budgets {
		out[i] = &budgets[i]
	}
	return out
}

// measureMap gives access to meters by name.
func measureMap(meters map[string]policy.Measure) any {
	out := make(map[string]any, len(meters))
	for name, m := range meters {
		out[name] = &m
	}
	return out
}
