package usage

import (
	"encoding/json"
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"
)

// jsonObject reads a JSON object, nil where it is null. A key that comes twice
// is an error: of its two values one would be lost without a word.
func jsonObject(data []byte) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	strict, err := kjson.UnmarshalStrict(data, &object)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(strict...); err != nil {
		if twice, ok := errors.AsType[kjson.FieldError](err); ok {
			return nil, fmt.Errorf("%s is there twice", Quote(twice.FieldPath()))
		}
		return nil, err
	}
	return object, nil
}
