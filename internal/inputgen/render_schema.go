package inputgen

import "encoding/json"

// schema renders the JSON schema of the document. Objects are closed, so that
// a misspelt key is an error when a policy is loaded.
func schema(types []Type) []byte {
	of := byName(types)
	doc := schemaObject(types[0], of)
	doc["$schema"] = "http://json-schema.org/draft-07/schema#"
	doc["title"] = "bursar policy input v1"
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil
	}
	return append(text, '\n')
}

func schemaObject(t Type, of map[string]Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range t.Fields {
		field := schemaField(f, of)
		field["description"] = f.Doc
		properties[f.Name] = field
		required = append(required, f.Name)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func schemaField(f Field, of map[string]Type) map[string]any {
	text := func() map[string]any { return map[string]any{"type": "string", "maxLength": MaxString} }
	switch f.Kind {
	case String:
		field := text()
		if f.Enum != nil {
			field["enum"] = f.Enum
		}
		return field
	case Time:
		field := text()
		field["format"] = "date-time"
		return field
	case Int:
		field := map[string]any{"type": "integer"}
		if !f.Signed {
			field["minimum"] = 0
		}
		return field
	case Bool:
		return map[string]any{"type": "boolean"}
	case Object:
		return schemaObject(of[f.Ref], of)
	case Objects:
		return map[string]any{"type": "array", "maxItems": f.Max, "items": schemaObject(of[f.Ref], of)}
	case Strings:
		return map[string]any{"type": "array", "maxItems": f.Max, "items": text()}
	case StringMap:
		return map[string]any{"type": "object", "maxProperties": f.Max, "additionalProperties": text()}
	default:
		return map[string]any{"type": "object", "maxProperties": f.Max, "additionalProperties": schemaObject(of[f.Ref], of)}
	}
}

func byName(types []Type) map[string]Type {
	m := make(map[string]Type, len(types))
	for _, t := range types {
		m[t.Name] = t
	}
	return m
}
