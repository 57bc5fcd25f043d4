package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// jsonObject reads a JSON object, nil where it is null. A key that comes twice
// is an error: of its two values one would be lost without a word.
func jsonObject(data []byte) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	if key, twice := repeated(data); twice {
		return nil, fmt.Errorf("%s is there twice", Quote(key))
	}
	return object, nil
}

// repeated gives the first key that a JSON object repeats. The text is known to
// be JSON.
func repeated(data []byte) (string, bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if _, err := decoder.Token(); err != nil {
		return "", false
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return "", false // null
		}
		if seen[key] {
			return key, true
		}
		seen[key] = true
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return "", false
		}
	}
	return "", false
}
